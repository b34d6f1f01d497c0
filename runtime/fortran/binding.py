# SPDX-License-Identifier: BSD-3-Clause
"""What the Fortran binding is made of: functions and constants of the C binding, seen from Fortran.

A Parameter has one of these kinds, found by the rules in kind_of():

  integer    INTEGER or a kind of it; in, out or inout; may be an array
  logical    LOGICAL, which is INTEGER's size, 1 for .TRUE. and 0 for .FALSE., as in C
  index      what counts from 1 in Fortran and from 0 in C
  room       the length of a string argument, to which C adds one for its null character
  handle     in, out or inout; may be an array
  status     one or an array; its layout is the same in C and Fortran
  string     CHARACTER(LEN=*), in or out;  strings, argvs: arrays of them, for MPI_Comm_spawn
  buffer     a choice buffer
  pointer    the address of a TYPE(C_PTR) or an address-sized INTEGER
  detached   the buffer's address, which only mpi_f08 can return
  weights    an array that may be MPI_UNWEIGHTED or MPI_WEIGHTS_EMPTY;  errcodes: likewise
  state, attribute, callback: functions that have them are written by hand in callbacks.cc
             and attributes.cc
  absent     C only
"""
import collections
import csv
import re

# This maps the C type of a handle to the word in its conversion functions.
HANDLES = {"MPI_" + word: "Type" if word == "Datatype" else word for word in
           "Comm Datatype Errhandler File Group Info Message Op Request Session Win".split()}
KINDS = {"int": "", "MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Offset": "MPI_OFFSET_KIND",
         "MPI_Count": "MPI_COUNT_KIND"}

LOGICAL = {"flag", "reorder", "commute", "high", "weighted", "periods", "remain_dims", "is_set",
           "logical_true", "logical_false"}
RENAMED = {"indx": "index", "error": "err"}
INOUT = {"position", "buflen", "pset_len", "comm_keyval", "type_keyval", "win_keyval", "keyval"}
CONSUMES = re.compile(r"(_free|_commit|_disconnect|_close|_finalize|"
                      r"MPI_(Cancel|Wait|Test|Start)(all|any|some)?)$")
# This maps a string that C writes to the characters it may write, without the null character.
ROOM = {"string": "MPI_MAX_ERROR_STRING", "version": "MPI_MAX_LIBRARY_VERSION_STRING",
        "name": "MPI_MAX_PROCESSOR_NAME", "key": "MPI_MAX_INFO_KEY",
        "port_name": "MPI_MAX_PORT_NAME", "datarep": "MPI_MAX_DATAREP_STRING",
        "comm_name": "MPI_MAX_OBJECT_NAME", "type_name": "MPI_MAX_OBJECT_NAME",
        "win_name": "MPI_MAX_OBJECT_NAME"}

Parameter = collections.namedtuple("Parameter", "name ctype kind intent array")
Function = collections.namedtuple("Function", "name returns parameters area old")
Constant = collections.namedtuple("Constant", "name ctype value")


def kind_of(function, ctype, stars, name, array):
    if name in ("argc", "argv") and not function.startswith("MPI_Comm_spawn"):
        return "absent"
    if ctype.endswith(("_function", "_function_c")):
        return "callback"
    if ctype in HANDLES:
        return "handle"
    if ctype == "MPI_Status":
        return "status"
    if ctype == "char":
        if not array:
            return "string"
        return "string" if stars == 0 else "strings" if stars == 1 else "argvs"
    if name in LOGICAL:
        return "logical"
    if ctype == "void":
        special = {"extra_state": "state", "attribute_val": "attribute", "baseptr": "pointer",
                   "buffer_addr": "detached"}
        return special.get(name, "buffer")
    if name.endswith("weights"):
        return "weights"
    if name == "array_of_errcodes":
        return "errcodes"
    if name in ("buflen", "pset_len"):
        return "room"
    if name == "array_of_indices" or (name == "indx" and not array):
        return "index"
    return "integer"


def intent_of(function, const, stars, array, ctype, name):
    if const or not (stars or array) or ctype.endswith(("_function", "_function_c")):
        return "in"
    if ctype in HANDLES:
        matched = name == "message" and "mrecv" in function.lower()
        return "inout" if matched or CONSUMES.search(function) else "out"
    if name in INOUT or function == "MPI_Dims_create" or ctype in ("void", "MPI_Status"):
        return "inout"
    return "in" if name == "ranges" or (ctype == "char" and array) else "out"


def parameter(function, text):
    match = re.match(r"(const )?(\w+) ?(?:const )?(\**)(\w+)((?:\[\d*\])*)$", text.strip())
    const, ctype, stars, name, array = match.groups()
    # The C header writes some arrays as pointers.
    array = array or ("[]" if stars and name in ("array_of_statuses",) else "")
    kind = kind_of(function, ctype, len(stars), name, array)
    return Parameter(RENAMED.get(name, name), ctype, kind,
                     intent_of(function, const, stars, array, ctype, name), array)


def seen_from_fortran(row):
    """The function of a row of the table, unless Fortran has none: a list of one or none."""
    name = row["name"]
    if name.startswith("MPI_T_") or re.search(r"_(to|from)int$", name):
        return []
    words = [] if row["parameters"] in ("void", "") else row["parameters"].split(", ")
    if name == "MPI_Pcontrol":
        words = ["int level"]
    return [Function(name, row["returns"], [parameter(name, word) for word in words], row["area"],
                     row["deprecated_since"] == "MPI-2.0")]


def functions(path):
    """The functions that have a Fortran binding, without those that have no C counterpart."""
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield from seen_from_fortran(row)


def constants(path):
    """Constants with a value in Fortran, as numbers; those that are addresses in C are left out."""
    values = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name, ctype, value = row["name"], row["type"], row["value"]
            if name.startswith(("MPI_T_", "MPI_F_", "MPIX_")) or "*" in ctype:
                continue
            if ctype == "alias":
                if value not in values:
                    continue
                ctype, number = values[value].ctype, values[value].value
            else:
                number = int(value, 0)
            if name.startswith("MPI_MAX_") and ctype == "int":
                number -= 1  # MPI-5.0, section 2.5.4: Fortran needs no room for a null character
            values[name] = Constant(name, ctype, number)
    return list(values.values())
