# SPDX-License-Identifier: BSD-3-Clause
"""Writes what Fortran compiles: mpif.h and the modules lamina_mpi_types, mpi and mpi_f08."""
import os

import binding
import wrappers

HEADER = "! SPDX-License-Identifier: BSD-3-Clause\n! Written by generate.py.\n"
HERE = os.path.dirname(os.path.realpath(__file__))

# These constants are no numbers: (name, type, shape); their addresses mean something.
ADDRESSES = [("MPI_BOTTOM", "INTEGER", ""), ("MPI_IN_PLACE", "INTEGER", ""),
             ("MPI_BUFFER_AUTOMATIC", "INTEGER", ""), ("MPI_UNWEIGHTED", "INTEGER", "(1)"),
             ("MPI_WEIGHTS_EMPTY", "INTEGER", "(1)"), ("MPI_ERRCODES_IGNORE", "INTEGER", "(1)"),
             ("MPI_ARGV_NULL", "CHARACTER*1", "(1)"), ("MPI_ARGVS_NULL", "CHARACTER*1", "(1,1)")]
STATUSES = [("MPI_STATUS_IGNORE", "INTEGER", "(MPI_STATUS_SIZE)"),
            ("MPI_STATUSES_IGNORE", "INTEGER", "(MPI_STATUS_SIZE,1)")]
# Only Fortran has these numbers.
NUMBERS = [("MPI_STATUS_SIZE", 8), ("MPI_SOURCE", 1), ("MPI_TAG", 2), ("MPI_ERROR", 3),
           ("MPI_ADDRESS_KIND", 8), ("MPI_COUNT_KIND", 8), ("MPI_INTEGER_KIND", 4),
           ("MPI_OFFSET_KIND", 8)]
# These are the predefined callbacks by the type of their object; "" is what MPI-1 had.
COPY = ["%sNULL_COPY_FN", "%sDUP_FN"]
DELETE = ["%sNULL_DELETE_FN"]

SIZEOF = """  interface {p}MPI_Sizeof
    subroutine {p}MPI_Sizeof_f08ts(x, size, ierror) bind(C, name="{l}mpi_sizeof_f08ts_")
      type(*), dimension(..) :: x
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
"""


def predefined_callbacks():
    for family in ["COMM_", "TYPE_", "WIN_", ""]:
        for name in COPY + DELETE:
            yield "MPI_" + name % family
    yield "MPI_CONVERSION_FN_NULL"


def symbol(name):
    return "mpi_fortran_%s_" % name.lower()[4:]


def mpif(constants):
    """Fixed and free source form alike: from column 7 to 72, no continuation lines."""
    yield HEADER.replace("! S", "!     S").replace("! W", "!     W")
    line = "      %s\n"
    for name, value in NUMBERS:
        yield line % ("INTEGER " + name) + line % ("PARAMETER (%s=%d)" % (name, value))
    for constant in constants:
        kind = "(KIND=MPI_OFFSET_KIND)" if constant.ctype == "MPI_Offset" else ""
        yield line % ("INTEGER%s %s" % (kind, constant.name))
        yield line % ("PARAMETER (%s=%d)" % (constant.name, constant.value))
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        yield line % ("LOGICAL " + name) + line % ("PARAMETER (%s=.FALSE.)" % name)
    for name, ftype, shape in ADDRESSES + STATUSES:
        yield line % (ftype + " " + name + shape)
        yield line % ("COMMON /%s/ %s" % (symbol(name)[:-1], name))
    for prefix in ("", "P"):
        for name in ("MPI_WTIME", "MPI_WTICK"):
            yield line % ("DOUBLE PRECISION " + prefix + name) + line % ("EXTERNAL " + prefix + name)
        for name in ("MPI_AINT_ADD", "MPI_AINT_DIFF"):
            yield line % ("INTEGER(KIND=MPI_ADDRESS_KIND) " + prefix + name)
            yield line % ("EXTERNAL " + prefix + name)
    for name in predefined_callbacks():
        yield line % ("EXTERNAL " + name)


def types(constants):
    """What mpi and mpi_f08 share: kinds, types of handles and their comparison, numbers, addresses."""
    yield HEADER + ("module lamina_mpi_types\n  use, intrinsic :: iso_c_binding, only: c_char, c_ptr\n"
                    "  implicit none\n  private :: c_char\n")
    for name, value in NUMBERS:
        yield "  integer, parameter :: %s = %d\n" % (name, value)
    for handle in binding.HANDLES:
        yield ("  type, bind(C) :: %s\n    integer :: MPI_VAL\n  end type\n" % handle)
    yield ("  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE\n    integer :: MPI_TAG\n"
           "    integer :: MPI_ERROR\n    integer, private :: internal(5)\n  end type\n")
    for constant in constants:
        if constant.ctype not in binding.HANDLES:
            kind = "(kind=MPI_OFFSET_KIND)" if constant.ctype == "MPI_Offset" else ""
            yield "  integer%s, parameter :: %s = %d\n" % (kind, constant.name, constant.value)
    for name, ftype, shape in ADDRESSES:
        ftype = "character(kind=c_char)" if ftype == "CHARACTER*1" else "integer"
        yield '  %s, bind(C, name="%s") :: %s%s\n' % (ftype, symbol(name), name, shape)
    for operator, names in (("==", "equal"), ("/=", "differ")):
        yield "  interface operator(%s)\n" % operator
        yield "".join("    module procedure %s_%s\n" % (names, h) for h in binding.HANDLES)
        yield "  end interface\n"
        yield "".join("  private :: %s_%s\n" % (names, h) for h in binding.HANDLES)
    for prefix in ("", "P"):
        yield SIZEOF.format(p=prefix, l=prefix.lower())
    yield "contains\n"
    for handle in binding.HANDLES:
        for operator, names in (("==", "equal"), ("/=", "differ")):
            yield ("  pure elemental logical function {n}_{h}(a, b)\n"
                   "    type({h}), intent(in) :: a, b\n"
                   "    {n}_{h} = a%MPI_VAL {o} b%MPI_VAL\n"
                   "  end function\n").format(n=names, h=handle, o=operator)
    yield "end module\n"


def shape(p):
    if p.kind == "status" and p.array:
        return "(*)"
    if p.kind == "argvs":
        return "(1,*)"
    return "(3,*)" if p.array == "[][3]" else "(*)" if p.array or p.kind in (
        "weights", "errcodes") else ""


def integer_type(ctype):
    kind = binding.KINDS[ctype]
    return "integer(kind=%s)" % kind if kind else "integer"


class Interface:
    """The interface body of one procedure; the two modules differ in how they declare arguments."""

    def __init__(self, function, name, bind=""):
        self.function, self.name, self.bind = function, name, bind
        self.visible = [p for p in function.parameters if p.kind != "absent"]

    def declare(self, p):
        raise NotImplementedError

    def error(self):
        raise NotImplementedError

    def text(self):
        names = [p.name for p in self.visible]
        kind = "subroutine"
        if self.function.returns != "int":
            kind = ("double precision" if self.function.returns == "double" else
                    integer_type(self.function.returns)) + " function"
        declarations = [self.declare(p) for p in self.visible]
        if kind == "subroutine" and self.function.name != "MPI_Pcontrol":
            names.append("ierror")
            declarations.append(self.error())
        lines = ["%s %s(&" % (kind, self.name)]
        lines += ["    %s&" % (name + ", " if name != names[-1] else name) for name in names]
        lines.append("    )%s" % self.bind)
        lines += ["  import"] + ["  " + d for d in declarations] + ["end " + kind.split()[-1]]
        return "".join("    %s\n" % line for line in lines)


class Mpi(Interface):
    """Module mpi: handles are INTEGERs, choice buffers any address, ierror is there."""

    def declare(self, p):
        declared = {"handle": "integer", "logical": "logical", "string": "character(len=*)",
                    "strings": "character(len=*)", "argvs": "character(len=*)",
                    "index": "integer", "room": "integer", "weights": "integer",
                    "errcodes": "integer", "status": "integer"}.get(p.kind)
        if p.kind == "integer":
            declared = integer_type(p.ctype)
        if p.kind == "status":
            return "integer :: %s(MPI_STATUS_SIZE%s)" % (p.name, ",*" if p.array else "")
        if p.kind == "callback":
            return "external :: " + p.name
        if p.kind in ("state", "attribute"):
            declared = "integer" if self.function.old else "integer(kind=MPI_ADDRESS_KIND)"
        if p.kind == "pointer":
            declared = "type(c_ptr)" if "cptr" in self.name else "integer(kind=MPI_ADDRESS_KIND)"
        if p.kind in ("buffer", "detached"):
            return ("!GCC$ ATTRIBUTES NO_ARG_CHECK :: {0}\n      !DIR$ IGNORE_TKR {0}\n"
                    "      type(*), dimension(*) :: {0}").format(p.name)
        at = shape(p) if p.kind != "string" else ""
        return "%s :: %s%s" % (declared, p.name, at)

    def error(self):
        return "integer :: ierror"


class F08(Interface):
    """Module mpi_f08: handles have types, choice buffers are descriptors, ierror is optional."""

    def declare(self, p):
        intent = {"in": ", intent(in)", "out": ", intent(out)", "inout": ", intent(inout)"}[p.intent]
        at = shape(p) if p.kind != "string" else ""
        if p.kind in ("integer", "index", "room"):
            declared = integer_type(p.ctype)
        elif p.kind in ("weights", "errcodes"):
            declared, intent = "integer", intent if p.intent == "in" else ""
        elif p.kind == "logical":
            declared, intent = "logical", "" if p.ctype == "void" else intent
        elif p.kind == "handle":
            declared = "type(%s)" % p.ctype
        elif p.kind == "status":
            declared, intent = "type(MPI_Status)", intent if p.intent == "in" else ""
        elif p.kind in ("string", "strings", "argvs"):
            declared = "character(len=*)"
        elif p.kind == "callback":
            return "procedure(%s) :: %s" % (p.ctype, p.name)
        elif p.kind in ("state", "attribute"):
            out = p.kind == "attribute" and "_get_" in self.function.name
            declared, intent = "integer(kind=MPI_ADDRESS_KIND)", ", intent(%s)" % (
                "out" if out else "in")
        elif p.kind in ("pointer", "detached"):
            declared, intent = "type(c_ptr)", ", intent(out)"
        elif p.kind == "buffer":
            declared, intent = "type(*), dimension(..)", intent if p.intent == "in" else ""
            if wrappers.policy(self.function) in ("Spread", "Whole", "Keep", "Partitions"):
                intent += ", asynchronous"
        return "%s%s :: %s%s" % (declared, intent, p.name, at)

    def error(self):
        return "integer, optional, intent(out) :: ierror"

    def key(self):
        """What tells one procedure of a generic name from another."""
        return [(p.kind, p.ctype, bool(p.array)) if p.kind != "integer" else
                (integer_type(p.ctype).replace("ADDRESS", "COUNT").replace("OFFSET", "COUNT"),
                 bool(p.array)) for p in self.visible]


def generic(name, bodies):
    yield "  interface %s\n" % name
    for body in bodies:
        yield body.text()
    yield "  end interface\n"


def handwritten(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def mpi(functions, constants):
    yield HEADER + ("module mpi\n  use, intrinsic :: iso_c_binding, only: c_ptr\n"
                    "  use lamina_mpi_types\n  implicit none\n  private :: c_ptr\n")
    for constant in constants:
        if constant.ctype in binding.HANDLES:
            yield "  integer, parameter :: %s = %d\n" % (constant.name, constant.value)
    yield ("  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.\n"
           "  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n")
    for name, _, size in STATUSES:
        yield '  integer, bind(C, name="%s") :: %s%s\n' % (symbol(name), name, size)
    for function in functions:
        if wrappers.is_large(function):
            continue
        for prefix in ("", "P"):
            name = prefix + function.name
            bodies = [Mpi(function, name)]
            if any(p.kind == "pointer" for p in function.parameters):
                bodies.append(Mpi(function, name + "_cptr"))
            yield from generic(name, bodies)
    yield handwritten("mpi_callbacks.f90")
    yield "end module\n"


def mpi_f08(functions, constants):
    yield HEADER + ("module mpi_f08\n  use, intrinsic :: iso_c_binding, only: c_ptr\n"
                    "  use lamina_mpi_types\n  implicit none\n  private :: c_ptr\n")
    for constant in constants:
        if constant.ctype in binding.HANDLES:
            yield "  type({0}), parameter :: {1} = {0}({2})\n".format(
                constant.ctype, constant.name, constant.value)
    yield ("  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.\n"
           "  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n"
           '  type(MPI_Status), bind(C, name="mpi_f08_status_ignore_") :: MPI_STATUS_IGNORE\n'
           '  type(MPI_Status), bind(C, name="mpi_f08_statuses_ignore_") :: MPI_STATUSES_IGNORE(1)\n')
    yield handwritten("mpi_f08_callbacks.f90")
    by_name = {function.name: function for function in functions if not function.old}
    for name, function in by_name.items():
        if wrappers.is_large(function) and name[:-2] in by_name and not needs_own_name(function):
            continue
        large = by_name.get(name + "_c")
        for prefix in ("", "P"):
            yield from generic(prefix + name, f08_bodies(
                function, None if large is None or needs_own_name(large) else large, prefix))
    yield "end module\n"


def f08_bodies(function, large=None, prefix=""):
    """The procedures with one generic name: a function and, if Fortran can tell it apart, its large form."""
    bodies = [f08_body(function, prefix)]
    if large is not None:
        body = f08_body(large, prefix)
        # Where only address-sized arguments become counts, both are the same for Fortran.
        if body.key() != bodies[0].key():
            bodies.append(body)
    return bodies


def needs_own_name(function):
    """Procedures that differ in a callback alone cannot share a generic name (MPI-5.0, 19.2)."""
    return wrappers.is_large(function) and any(p.kind == "callback" for p in function.parameters)


def f08_body(function, prefix):
    name = prefix + function.name + wrappers.suffix(function)
    bind = ' bind(C, name="%s_")' % name.lower() if wrappers.has_buffer(function) else ""
    return F08(function, name, bind)
