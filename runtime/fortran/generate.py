#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran binding.

usage: generate.py WHAT FUNCTIONS.tsv CONSTANTS.tsv     WHAT: wrappers | mpif | types | mpi | mpi_f08
"""
import sys

import binding
import modules
import wrappers


def main():
    what, functions, constants = sys.argv[1:]
    functions = list(binding.functions(functions))
    constants = binding.constants(constants)
    writers = {
        "wrappers": lambda: wrappers.source(functions),
        "mpif": lambda: modules.mpif(constants),
        "types": lambda: modules.types(constants),
        "mpi": lambda: modules.mpi(functions, constants),
        "mpi_f08": lambda: modules.mpi_f08(functions, constants),
    }
    for piece in writers[what]():
        sys.stdout.write(piece)


if __name__ == "__main__":
    main()
