# SPDX-License-Identifier: BSD-3-Clause
"""Fortran programs that use MPI, run as real ranks by our own launcher.

fortran_test(name, srcs) builds a program with gfortran against mpif.h, the modules and the two libraries,
and makes one test per number of ranks, NAME_np2, ..., and a suite NAME of them all. C sources may stand
among the others. The program passes by exiting with 0. A `static` one has the two libraries within it.
"""

def fortran_test(name, srcs, ranks = [1, 2, 4], options = "", size = "small", static = False, tags = []):
    program = name + "_program"
    libraries = [
        library + (".a" if static else ".so.1")
        for library in ["//runtime/fortran:libmpifort_abi", "//runtime:libmpi_abi"]
    ]
    native.genrule(
        name = program + "_link",
        testonly = True,
        srcs = ["check.f90"] + srcs + libraries + [
            "//runtime/fortran:modules",
            "//runtime/fortran:mpif.h",
            "//runtime/include:lamina/region.inc",
            "//runtime/include:mpi.h",
        ],
        outs = [program],
        tags = ["manual"],
        # The module files of a program are its own; libraries are found from where the program lies.
        cmd = " ".join([
            "work=$$(mktemp -d) && gfortran -g -O1",
            options,
            "-I$$(dirname $(location //runtime/fortran:mpif.h))",
            "-I$$(dirname $(location //runtime/include:mpi.h)) -J$$work",
            " ".join(["$(location %s)" % source for source in ["check.f90"] + srcs]),
            "-o $@ -Wl,--no-as-needed",
            " ".join(["$(location %s)" % library for library in libraries]),
            "'-Wl,-rpath,$$ORIGIN/../../../runtime/fortran:$$ORIGIN/../../../runtime'",
            "; status=$$?; rm -rf $$work; exit $$status",
        ]),
    )
    for count in ranks:
        native.sh_test(
            name = "%s_np%d" % (name, count),
            size = size,
            srcs = ["//test/mpi:run_ranks"],
            args = [
                "$(location //launcher:mpiexec)",
                str(count),
                "0",
                "''",
                "--oversubscribe",
                "$(location :%s)" % program,
            ],
            data = [":" + program, "//launcher:mpiexec"] + libraries,
            # gfortran links without a sanitizer; such a program cannot load a library that has one.
            tags = tags + ["cpu:2", "nosan"],
        )
    native.test_suite(
        name = name,
        tests = [":%s_np%d" % (name, count) for count in ranks],
    )
