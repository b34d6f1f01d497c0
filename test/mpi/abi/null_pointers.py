#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""null_pointers.py FUNCTIONS_TSV

Prints the cases of null_pointers.c: for each function and each of its pointers one call with a null pointer
there and arguments that make sense elsewhere. A pointer is left out where null means something.
"""

import re
import sys

# Null is a value of its own for these: an address, an ignored result, no arguments, no callback.
NULL_MEANS = re.compile(
    r"^(const )?void \*(buf|sendbuf|recvbuf|inbuf|outbuf|inoutbuf|origin_addr|result_addr|compare_addr|base|"
    r"location|buffer|extra_state|attribute_val|obj_handle|user_data|filename)$"
    r"|^(const )?MPI_Status \*|^MPI_Status \w+\[\]"
    r"|^(int \*argc|char \*\*\*argv|char \*argv\[\]|char \*\*array_of_argv\[\]|int array_of_errcodes\[\])$"
    r"|^MPI_(Copy|Delete)_function |^int \w*weights\[\]$"
    r"|_(attr|extent|conversion|query|free|cancel|cb)_?(\w*)_function(_c)? \*?\w+$"
    r"|_cb_function \w+$")
# A result goes where these point, although their type is that of a buffer.
RESULTS = {("MPI_%s_get_attr" % kind, "attribute_val") for kind in ("Comm", "Type", "Win")} | {
    ("MPI_T_cvar_read", "buf"), ("MPI_T_pvar_read", "buf"), ("MPI_T_pvar_readreset", "buf")}
# A program may ask for some of the facts only (MPI-5.0, 15.3).
ASKS_FOR_SOME = re.compile(r"^MPI_T_\w+_get_info$")
# What is done to a communicator of that kind.
KINDS = [(r"^MPI_(Cartdim|Cart_(?!create|map)|I?neighbor_|Neighbor_|Topo)", "cart"),
         (r"^MPI_(Graphdims|Graph_(?!create|map))", "graph"), (r"^MPI_Dist_graph_neighbors", "dist_graph")]
SCALARS = {"MPI_Datatype": "MPI_INT", "MPI_Info": "MPI_INFO_NULL", "MPI_Op": "MPI_SUM", "MPI_Group": "group",
           "MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Session": "session", "MPI_Request": "request",
           "MPI_Message": "message", "MPI_File": "file", "MPI_Win": "win",
           "MPI_Aint": "1", "MPI_Count": "1", "MPI_Offset": "1", "MPI_T_cvar_handle": "cvar",
           "MPI_T_pvar_handle": "pvar", "MPI_T_pvar_session": "pvar_session",
           "MPI_T_cb_safety": "MPI_T_CB_REQUIRE_NONE", "MPI_T_event_registration": "registration",
           "MPI_T_event_instance": "instance"}
# One process cannot make what these are about: an intercommunicator, an enumeration, a second start.
BEYOND = re.compile(r"^MPI_(Init|Comm_remote_|Intercomm_merge|T_enum_)")
# Null stands for an array that is not asked for.
MAY_BE_EMPTY = {("MPI_Type_get_contents%s" % form, "array_of_%s" % what)
                for form in ("", "_c") for what in ("addresses", "large_counts")}
ZEROS = {"rank", "root", "dest", "source", "tag", "sendtag", "recvtag", "rank1", "rank2", "local_leader",
         "remote_leader", "color", "key", "target_rank", "direction", "cvar_index", "pvar_index", "cat_index",
         "event_index", "index", "source_index", "assert", "reorder", "op", "whence", "partition",
         "partition_low", "partition_high", "item", "nth"}
ONES_ARRAYS = re.compile(r"count|size|dims|blocklength|weights|degrees|indx|index|integers|ranges|len$")


def comm_for(function):
    for pattern, kind in KINDS:
        if re.match(pattern, function):
            return kind
    return "comm"


def split(parameter):
    """("const int", "counts", "[]") of "const int counts[]"."""
    match = re.match(r"^(.*?)(\w+)((?:\[\d*\])*)$", parameter)
    return match[1].strip(), match[2], match[3]


def is_pointer(kind, brackets):
    return kind.endswith("*") or brackets != "" or kind.endswith("_cb_function")


def value(function, kind, name, brackets):
    if kind == "MPI_Comm":
        return comm_for(function)
    if kind == "MPI_Datatype" and function.startswith("MPI_Type_get_contents") and not brackets:
        return "new_type"
    if kind in SCALARS and not brackets:
        if function.startswith("MPI_Info_") and kind == "MPI_Info":
            return "info"
        if kind == "MPI_Op" and function in ("MPI_Op_free",):
            return "op"
        return SCALARS[kind]
    if kind == "int" and not brackets:
        if name.endswith("keyval"):
            return {"comm": "comm_keyval", "type": "type_keyval", "win": "win_keyval"}.get(name.split("_")[0], "comm_keyval")
        if name == "n":
            return "0" if "_nth" in function else "1"
        return "0" if name in ZEROS else "64" if name in ("maxlen", "valuelen") else "1"
    if kind == "const int" and not brackets:
        return "1"
    if kind.endswith("_function *") or kind.endswith("_function_c *") or kind.endswith("_cb_function"):
        return "(%s)any_function" % kind
    base = re.sub(r"\bconst\b", "", kind).replace("*", "").strip()
    if base == "int" and (brackets or kind.endswith("*")):
        array = "ones" if ONES_ARRAYS.search(name) else "zeros"
        return "(int(*)[3])zeros" if brackets == "[][3]" else array
    if base == "MPI_Datatype" and name != "datatype" and not brackets:
        return "&new_type"
    known = {"MPI_Request": "requests", "MPI_Datatype": "types", "MPI_Info": "infos", "MPI_Comm": "comms",
             "MPI_Group": "groups", "MPI_Message": "messages", "char": "text", "MPI_Status": "statuses"}
    if base == "char" and kind.count("*") + brackets.count("[") > 1:
        return "(void *)texts"
    if base in known:
        return known[base]
    return "(void *)into" if name.startswith(("recv", "inout", "result")) else "(void *)room"


def cases(function, parameters):
    for position, parameter in enumerate(parameters):
        kind, name, brackets = split(parameter)
        if not is_pointer(kind, brackets):
            continue
        spelled = "%s%s%s" % (kind + ("" if kind.endswith("*") else " "), name, brackets)
        if NULL_MEANS.search(spelled) and (function, name) not in RESULTS:
            continue
        words = ["NULL" if at == position else value(function, *split(other))
                 for at, other in enumerate(parameters)]
        yield name, words


def main():
    functions, table = [], []
    with open(sys.argv[1], encoding="ascii") as file:
        next(file)
        for line in file:
            function, returns, parameters = line.rstrip("\n").split("\t")[:3]
            if returns != "int" or parameters in ("void", "") or "..." in parameters or BEYOND.match(function):
                continue
            for name, words in cases(function, parameters.split(", ")):
                number = len(table)
                functions.append("static int Case%d(void) { return %s(%s); }" % (number, function, ", ".join(words)))
                table.append('  {"%s", "%s", Case%d, %d},' % (function, name, number,
                                                            bool(ASKS_FOR_SOME.match(function))
                                                            or (function, name) in MAY_BE_EMPTY))
    print("/* Made by null_pointers.py. */")
    print("\n".join(functions))
    print("static const struct Case cases[] = {")
    print("\n".join(table))
    print("};")


if __name__ == "__main__":
    main()
