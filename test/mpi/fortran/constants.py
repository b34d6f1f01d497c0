#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a program for the Fortran binding's constants: constants.py CONSTANTS.tsv f08|old

Goal:   constants have the values of the standard ABI in mpif.h, module mpi and module mpi_f08, but
        lengths of strings, which have no room for a null character (MPI-5.0, sections 2.5.4, 21).
"""
import csv
import sys

HANDLES = {"MPI_" + word for word in "Comm Datatype Errhandler File Group Info Message Op Request "
           "Session Win".split()}


def main():
    path, binding = sys.argv[1:]
    print("program constants")
    if binding == "f08":
        print("  use mpi_f08")
    else:
        print("#ifndef MPIF\n  use mpi\n#endif")
    print("  use check\n  implicit none")
    if binding == "old":
        print("#ifdef MPIF\n  include 'mpif.h'\n#endif")
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name, ctype, value = row["name"], row["type"], row["value"]
            if name.startswith(("MPI_T_", "MPI_F_", "MPIX_")) or "*" in ctype or ctype == "alias":
                continue
            number = int(value, 0) - (name.startswith("MPI_MAX_"))
            value = name + "%MPI_VAL" if ctype in HANDLES and binding == "f08" else name
            print("  call expect(%s == %d, '%s')" % (value, number, name))
    print("  call expect(MPI_STATUS_SIZE == 8 .and. MPI_SOURCE == 1 .and. MPI_TAG == 2 .and. &\n"
          "              MPI_ERROR == 3, 'layout of a status')")
    print("  call expect(MPI_ADDRESS_KIND == 8 .and. MPI_COUNT_KIND == 8 .and. &\n"
          "              MPI_OFFSET_KIND == 8 .and. MPI_INTEGER_KIND == 4, 'kinds')")
    print("  call passed()\nend program")


if __name__ == "__main__":
    main()
