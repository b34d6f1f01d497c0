# SPDX-License-Identifier: BSD-3-Clause
"""Writes what Fortran calls: one C++ function per name, with Fortran's arguments, that calls C.

  mpi_send_         mpif.h and module mpi: a choice buffer is an address
  mpi_send_f08ts_   module mpi_f08: a choice buffer is a descriptor
  mpi_barrier_f08_  module mpi_f08, no choice buffer: the same code under another name
  pmpi_...          the same again, calling PMPI_...; so a tool may intercept in either language
"""
import re

import binding

BY_HAND = {"callback", "state", "attribute"}
# A section that was copied needs this beside the call itself.
REQUEST = "PMPI_Request_fromint(*request)"
READY = {
    "MPI_Pready": ["PartitionsReady(%s, *partition, *partition);" % REQUEST],
    "MPI_Pready_range": ["PartitionsReady(%s, *partition_low, *partition_high);" % REQUEST],
    "MPI_Pready_list": ["for (int i = 0; i < *length; ++i)",
                        "  PartitionsReady(%s, array_of_partitions[i], array_of_partitions[i]);" %
                        REQUEST]}
ARRIVED = {"MPI_Parrived": ["if (*flag != 0) PartitionArrived(%s, *partition);" % REQUEST]}
F90 = "f90"
F08 = "f08"


def is_by_hand(function):
    return any(p.kind in BY_HAND for p in function.parameters) or function.name == "MPI_Pcontrol"


def is_large(function):
    return function.name.endswith("_c")


def has_buffer(function):
    return any(p.kind == "buffer" for p in function.parameters)


def suffix(function):
    return "_f08ts" if has_buffer(function) else "_f08"


def policy(function):
    """How a section with gaps gets to C: section.h says what the words mean."""
    request = [p for p in function.parameters if p.ctype == "MPI_Request"]
    kinds = "".join("b" if p.kind == "buffer" else "n" if p.name.endswith("count") else
                    "t" if p.ctype == "MPI_Datatype" else "." for p in function.parameters)
    triples = kinds.count("bnt") == kinds.count("b")
    if function.name in ("MPI_Get_address", "MPI_Free_mem"):
        return "Address"
    if re.match(r"MPI_(Win_|Buffer_|\w+_attach_buffer|\w+_begin)", function.name):
        return "Whole"
    if function.area == "partitioned":
        return "Partitions"
    if triples and (function.area == "rma" or request and function.area in ("point-to-point", "io")):
        return "Spread"
    if function.area == "rma":
        return "Whole"
    return "Keep" if request else "Section"


class Wrapper:
    """Collects the pieces of one function."""

    def __init__(self, function, variant, prefix):
        self.function, self.variant = function, variant
        self.call = prefix + function.name
        self.arguments, self.lengths = [], []
        self.before, self.inputs, self.after, self.good = [], [], [], []
        self.policy = policy(function) if variant == F08 and has_buffer(function) else None
        self.spread = None
        for p in function.parameters:
            getattr(self, p.kind)(p)

    def take(self, ctype, p):
        self.arguments.append("%s* %s" % (ctype, p.name))

    def length(self, array):
        """How many handles an array of them has."""
        names = [p.name for p in self.function.parameters]
        if array.name in ("sendtypes", "recvtypes"):
            if "eighbor" in self.function.name:
                peers = "Destinations" if array.name == "sendtypes" else "Sources"
                return peers + "(PMPI_Comm_fromint(*comm))"
            all_peers = "Processes(PMPI_Comm_fromint(*comm))"
            send = "Buffer(sendbuf)" if self.variant == F90 else "c_sendbuf.address()"
            in_place = "%s == MPI_IN_PLACE ? 0 : " % send if array.name == "sendtypes" else ""
            return in_place + all_peers
        if array.name == "array_of_datatypes":
            return "*max_datatypes"
        if array.name == "array_of_info":
            return "AtRoot(PMPI_Comm_fromint(*comm), *root) ? *count : 0"
        return "*count" if "count" in names else "*incount"

    def integer(self, p):
        self.take("MPI_Fint" if p.ctype == "int" else p.ctype, p)
        scalar_in = p.intent == "in" and not p.array
        if scalar_in and self.spread and p.name.endswith("count"):
            self.inputs.append("c_%s.count%s()" % (self.spread, "_c" * is_large(self.function)))
        elif p.array == "[][3]":
            self.inputs.append("reinterpret_cast<int(*)[3]>(%s)" % p.name)
        else:
            self.inputs.append("*" * scalar_in + p.name)

    logical = integer

    def index(self, p):
        if p.array:
            self.integer(p)
            self.after.append("if (Completed(error)) CountFromOne(%s, *outcount);" % p.name)
            return
        self.take("MPI_Fint", p)
        self.before.append("int c_%s = MPI_UNDEFINED;" % p.name)
        self.inputs.append("&c_" + p.name)
        self.after.append("TellIndex(error, c_%s, %s);" % (p.name, p.name))

    def room(self, p):
        self.take("MPI_Fint", p)
        self.before.append("int c_%s = RoomInC(*%s);" % (p.name, p.name))
        self.inputs.append("&c_" + p.name)
        self.good.append("*%s = RoomInFortran(c_%s);" % (p.name, p.name))

    def handle(self, p):
        self.take("MPI_Fint", p)
        convert = "PMPI_%s_" % binding.HANDLES[p.ctype]
        c_name = "c_" + p.name
        if p.array:
            self.handles(p, c_name)
        elif p.intent == "in":
            if self.spread:
                self.inputs.append("c_%s.datatype()" % self.spread)
                self.spread = None
            else:
                self.inputs.append("%sfromint(*%s)" % (convert, p.name))
        else:
            start = "{}" if p.intent == "out" else " = %sfromint(*%s)" % (convert, p.name)
            self.before.append("%s %s%s;" % (p.ctype, c_name, start))
            if p.intent == "inout" and p.ctype == "MPI_Request":
                does = ", Does::kFree" if self.function.name == "MPI_Request_free" else self.starts()
                self.before.append("const Landing landing(&%s, 1%s);" % (c_name, does))
            self.inputs.append("&" + c_name)
            back = "*%s = %stoint(%s);" % (p.name, convert, c_name)
            (self.good if p.intent == "out" else self.after).append(back)

    def handles(self, p, c_name):
        source = "" if p.intent == "out" else p.name + ", "
        made = "Handles<%s>%%s(%s%s)" % (p.ctype, source, self.length(p))
        if p.name in ("sendtypes", "recvtypes") and self.has_request():
            # C may read the array until the operation is done.
            made = made.replace("Handles", "std::make_shared<Handles", 1).replace(">%s", ">>%s", 1)
            self.before.append("const auto %s = %s;" % (c_name, made % ""))
            self.inputs.append(c_name + "->data()")
            self.good.append("KeepUntil(c_request, %s);" % c_name)
            return
        self.before.append(made % (" " + c_name) + ";")
        self.inputs.append(c_name + ".data()")
        if p.intent == "inout":
            self.before.append("const Landing landing(%s.data(), %s%s);" %
                               (c_name, self.length(p), self.starts()))
        if p.intent != "in":
            self.after.append("%s.Store(%s);" % (c_name, p.name))

    def starts(self):
        return ", Does::kStart" if self.function.name.startswith("MPI_Start") else ""

    def keep(self, c_name):
        repeated = re.search(r"_init(_c)?$", self.function.name)
        self.good.append("%s.Keep%s(c_request);" % (c_name, "Repeated" if repeated else ""))

    def has_request(self):
        return any(p.name == "request" for p in self.function.parameters)

    def status(self, p):
        self.take("void", p)
        self.inputs.append("Status(%s)" % p.name)

    def string(self, p):
        self.arguments.append("char* %s" % p.name)
        characters = p.name + ", " + p.name + "_length"
        if self.variant == F08 and has_buffer(self.function):  # BIND(C): a descriptor as well
            self.arguments[-1] = "ChoiceBuffer* %s" % p.name
            characters = "static_cast<char*>(%s->address), %s->element_bytes" % (p.name, p.name)
        else:
            self.lengths.append("std::size_t %s_length" % p.name)
        if p.intent == "in":
            trim = ".TrimFront()" if p.name in ("key", "value") else ""
            self.inputs.append("Text(%s)%s.data()" % (characters, trim))
            return
        room = {"MPI_Info_get": "*valuelen", "MPI_Info_get_string": "c_buflen",
                "MPI_Session_get_nth_pset": "c_pset_len"}.get(self.function.name)
        if room is None or p.name not in ("value", "pset_name"):
            room = binding.ROOM[p.name]
        self.before.append("Room c_%s(%s);" % (p.name, room))
        self.inputs.append("c_%s.data()" % p.name)
        condition = {"MPI_Info_get": "if (*flag != 0) ",
                     "MPI_Info_get_string": "if (*flag != 0 && *buflen > 0) ",
                     "MPI_Session_get_nth_pset": "if (*pset_len > 0) "}.get(self.function.name, "")
        self.good.insert(0, "%sc_%s.Store(%s);" % (condition, p.name, characters))

    def strings(self, p):
        self.arguments.append("char* " + p.name)
        self.lengths.append("std::size_t %s_length" % p.name)
        count = "-1" if p.name == "argv" else "*count"
        self.before.append(
            "Texts c_{0}({0}, {0}_length, IsNull({0}) || !AtRoot(PMPI_Comm_fromint(*comm), *root) ? 0"
            " : {1}, {0}_length);".format(p.name, count))
        self.inputs.append("IsNull({0}) ? MPI_ARGV_NULL : c_{0}.data()".format(p.name))

    def argvs(self, p):
        self.arguments.append("char* " + p.name)
        self.lengths.append("std::size_t %s_length" % p.name)
        self.before.append(
            "TextTable c_{0}({0}, {0}_length, IsNull({0}) || !AtRoot(PMPI_Comm_fromint(*comm), *root)"
            " ? 0 : *count);".format(p.name))
        self.inputs.append("IsNull({0}) ? MPI_ARGVS_NULL : c_{0}.data()".format(p.name))

    def buffer(self, p):
        if self.variant == F90:
            self.take("void", p)
            self.inputs.append("Buffer(%s)" % p.name)
            return
        self.take("ChoiceBuffer", p)
        c_name = "c_" + p.name
        if self.policy == "Address":
            self.inputs.append("Buffer(%s->address)" % p.name)
            return
        self.inputs.append(c_name + ".address()")
        access = "Access::kRead" if p.intent == "in" else "Access::kReadWrite"
        if self.policy == "Spread":
            at = [q.name for q in self.function.parameters].index(p.name)
            count, datatype = self.function.parameters[at + 1:at + 3]
            copied = ""
            if self.has_request():
                copied = ", " + access
                self.keep(c_name)
            self.before.append("Spread %s(%s, *%s, PMPI_Type_fromint(*%s)%s);" %
                               (c_name, p.name, count.name, datatype.name, copied))
            self.spread = p.name
        elif self.policy == "Whole":
            self.before.append("const Whole %s(%s);" % (c_name, p.name))
        elif self.policy == "Partitions":
            self.before.append("Partitions %s(%s, *partitions, *count, PMPI_Type_fromint(*datatype),"
                               " %s);" % (c_name, p.name, access))
            self.good.append("%s.Keep(c_request);" % c_name)
        else:
            self.before.append("Section %s(%s, %s);" % (c_name, p.name, access))
            if self.policy == "Keep":
                self.keep(c_name)

    def pointer(self, p):
        self.take("void", p)
        self.inputs.append(p.name)

    def detached(self, p):
        self.take("void", p)
        if self.variant == F90:
            self.arguments[-1] = "void*"
            self.before.append("void* c_%s;" % p.name)
        self.inputs.append("&c_" + p.name if self.variant == F90 else p.name)

    def weights(self, p):
        self.take("MPI_Fint", p)
        self.inputs.append("Weights(%s)" % p.name)

    def errcodes(self, p):
        self.take("MPI_Fint", p)
        self.inputs.append("ErrorCodes(%s)" % p.name)

    def absent(self, p):
        self.inputs.append("0" if p.ctype == "int" and p.intent == "in" else "nullptr")

    def text(self, symbol):
        call = "%s(%s)" % (self.call, ", ".join(self.inputs))
        if self.function.returns != "int":
            return "FORTRAN_FUNCTION %s %s(%s) { return %s; }\n" % (
                self.function.returns, symbol, ", ".join(self.arguments), call)
        if self.policy in ("Spread", "Whole", "Partitions"):
            names = [p.name for p in self.function.parameters if p.kind == "buffer"]
            comm = "PMPI_Comm_fromint(*comm)" if any(
                p.name == "comm" for p in self.function.parameters) else "MPI_COMM_SELF"
            good = " && ".join("c_%s.good()" % name for name in names)
            call = "%s\n      ? %s\n      : Refuse(%s)" % (good, call, comm)
        body = self.before + READY.get(self.function.name, [])
        self.good += ARRIVED.get(self.function.name, [])
        if re.match(r"MPI_(Init|Init_thread|Session_init)$", self.function.name):
            body.append("Describe();")
        if self.good or self.after:
            body.append("const int error = %s;" % call)
            if self.good:
                body += ["if (error == MPI_SUCCESS) {"] + ["  " + s for s in self.good] + ["}"]
            body += self.after + ["Return(ierror, error);"]
        else:
            body.append("Return(ierror, %s);" % call)
        return "FORTRAN %s(%s) {\n  %s\n}\n" % (
            symbol, ", ".join(self.arguments + ["MPI_Fint* ierror"] + self.lengths),
            "\n  ".join(body))


def differs(function):
    """Is mpi_f08's code another than mpif.h's?"""
    return has_buffer(function) or any(p.kind == "detached" for p in function.parameters)


def source(functions):
    yield ('// Written by generate.py.\n#include "runtime/fortran/convert.h"\n'
           '#include "runtime/fortran/section.h"\n\nusing namespace lamina::fortran;\n')
    for function in functions:
        if is_by_hand(function):
            continue
        for prefix in ("", "P"):
            name = (prefix + function.name).lower()
            f90, f08 = name + "_", name + suffix(function) + "_"
            if not is_large(function):
                yield Wrapper(function, F90, prefix).text(f90)
                if any(p.kind == "pointer" for p in function.parameters):
                    yield "ALIAS(%s, %s);\n" % (name + "_cptr_", f90)
            if is_large(function) or differs(function):
                yield Wrapper(function, F08, prefix).text(f08)
            elif not function.old:
                yield "ALIAS(%s, %s);\n" % (f08, f90)
