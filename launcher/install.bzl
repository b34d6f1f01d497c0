# SPDX-License-Identifier: BSD-3-Clause
"""What an installation consists of."""

# Folder of the prefix -> files that are put there. Links are made by install.sh.
INSTALLED = [
    ("bin", "//launcher:mpiexec"),
    ("bin", "//launcher/tools:mpicc"),
    ("include", "//runtime/fortran:lamina_mpi_types.mod"),
    ("include", "//runtime/fortran:mpi.mod"),
    ("include", "//runtime/fortran:mpi_f08.mod"),
    ("include", "//runtime/fortran:mpif.h"),
    ("include", "//runtime/include:mpi.h"),
    ("include/lamina", "//collectives:collective_abi.h"),
    ("include/lamina", "//runtime/component:component_abi.h"),
    ("include/lamina", "//runtime/include:lamina/checkpoint.h"),
    ("include/lamina", "//runtime/include:lamina/region.h"),
    ("include/lamina", "//runtime/include:lamina/region.inc"),
    ("include/lamina", "//runtime/include:lamina/sr.h"),
    ("lib", "//runtime:libmpi_abi.a"),
    ("lib", "//runtime:libmpi_abi.so.1"),
    ("lib", "//runtime/fortran:libmpifort_abi.a"),
    ("lib", "//runtime/fortran:libmpifort_abi.so.1"),
    ("lib/pkgconfig", "//launcher/tools:mpi.pc"),
    ("lib/pkgconfig", "//launcher/tools:mpifort.pc"),
    ("share/bash-completion/completions", "//launcher/tools:completion"),
    ("share/man/man1", "//launcher/tools:lamina.1"),
    ("share/man/man1", "//launcher/tools:lamina-checkpoint.1"),
    ("share/man/man1", "//launcher/tools:lamina-profile.1"),
    ("share/man/man1", "//launcher/tools:lamina-restart.1"),
    ("share/man/man1", "//launcher/tools:lamina-stack.1"),
    ("share/man/man1", "//launcher/tools:lamina-top.1"),
    ("share/man/man1", "//launcher/tools:lamina-trace.1"),
    ("share/man/man1", "//launcher/tools:lamina-why.1"),
    ("share/man/man1", "//launcher/tools:mpiexec.1"),
    ("share/man/man1", "//launcher/tools:mpicc.1"),
    ("share/man/man3", "//runtime/man:man3.tar"),
]

INSTALLED_FILES = [file for _, file in INSTALLED]

# FOLDER=FILE for install.sh, the files as they lie in a runfiles tree.
INSTALLED_PAIRS = ["%s=$(rootpath %s)" % (folder, file) for folder, file in INSTALLED]
