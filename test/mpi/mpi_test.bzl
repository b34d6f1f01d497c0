# SPDX-License-Identifier: BSD-3-Clause
"""Programs that use MPI, run as real ranks by our own launcher.

mpi_test(name, srcs) builds a C or C++ program against mpi.h and the library alone, and makes one test
per number of ranks, NAME_np2, ..., and a suite NAME of them all. The program passes by exiting with
`exit_status`; `output`, an extended regular expression, must then match what it and the launcher
printed on either stream. A `static` program has the library within it.
"""

def mpi_test(
        name,
        srcs,
        ranks = [1, 2, 4],
        exit_status = 0,
        output = "",
        launcher_args = ["--oversubscribe"],
        args = [],
        data = [],
        deps = [],
        copts = [],
        linkopts = [],
        size = "small",
        static = False,
        tags = []):
    program = name + "_program"
    library = "//runtime:libmpi_abi.a" if static else "//runtime:libmpi_abi.so.1"
    native.cc_binary(
        name = program,
        testonly = True,
        srcs = srcs + [library],
        copts = copts,
        linkopts = linkopts,
        deps = deps + ["//runtime/include:mpi_h", "//test/mpi:check"],
    )
    for count in ranks:
        native.sh_test(
            name = "%s_np%d" % (name, count),
            size = size,
            srcs = ["//test/mpi:run_ranks"],
            args = [
                "$(location //launcher:mpiexec)",
                str(count),
                str(exit_status),
                "'%s'" % output,
                "'%s'" % " ".join(launcher_args),
                "$(location :%s)" % program,
            ] + args,
            data = [
                ":" + program,
                "//launcher:mpiexec",
                "//runtime:libmpi_abi.so.1",
                "//test/launch:races.supp",
            ] + data,
            tags = tags + ["cpu:2"],
        )
    native.test_suite(
        name = name,
        tests = [":%s_np%d" % (name, count) for count in ranks],
    )
