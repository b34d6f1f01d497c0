#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the library exports every function of the standard ABI as MPI_ (weak) and PMPI_ (strong),
#         and beyond that only lamina_ names (MPI-5.0, section 15.2 and chapter 21); it brings no C++
#         runtime into a C program.
# Method: the dynamic symbols against functions.tsv, the ABI's list; the libraries it asks for.
library=$1 functions=$2
export LC_ALL=C

expected=$(cut -f1 "$functions" | tail -n +2 | sed 'p; s/^MPI_/PMPI_/' | sort)
found=$(nm -D --defined-only "$library" | awk '{print $NF}' | sed 's/@.*//' | grep -v '^lamina_' | sort)
missing=$(comm -23 <(echo "$expected") <(echo "$found"))
surplus=$(comm -13 <(echo "$expected") <(echo "$found"))
wrong=$(nm -D --defined-only "$library" |
  awk '$3 ~ /^MPI_/ && $2 != "W" || $3 ~ /^PMPI_/ && $2 != "T" {print $3, $2}')
runtime=$(readelf -dW "$library" | grep -oE 'NEEDED.*lib(stdc|c)\+\+.*')

[ -n "$expected" ] || { echo "no functions in $functions"; exit 1; }
[ -z "$missing" ] || { echo "not exported:"; echo "$missing"; }
[ -z "$surplus" ] || { echo "exported but not part of the ABI:"; echo "$surplus"; }
[ -z "$wrong" ] || { echo "wrong binding (MPI_ must be weak, PMPI_ strong):"; echo "$wrong"; }
[ -z "$runtime" ] || echo "a C++ runtime: $runtime"
[ -z "$missing$surplus$wrong$runtime" ]
