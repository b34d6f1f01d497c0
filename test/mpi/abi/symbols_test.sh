#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the libraries, shared and static, export every function of the standard ABI as MPI_ and PMPI_,
#         and beyond that only lamina_ names (MPI-5.0, section 15.2 and chapter 21); a program that is
#         linked with the archive may define MPI_ names itself, as one with the shared library always may;
#         they bring no C++ runtime into a C program, nor the mathematical library.
# Method: the symbols against functions.tsv, the ABI's list; the libraries they ask for.
# usage: symbols_test.sh FUNCTIONS.tsv SHARED-LIBRARY ARCHIVE
functions=$1 shared=$2 archive=$3
export LC_ALL=C
expected=$(cut -f1 "$functions" | tail -n +2 | sed 'p; s/^MPI_/PMPI_/' | sort)
[ -n "$expected" ] || { echo "no functions in $functions"; exit 1; }

failed=0
# names LIBRARY SYMBOLS BINDINGS: lines of nm, what it may show for an MPI_ name
names() {
  local library=$1 found missing surplus wrong
  found=$(awk 'NF == 3 {print $3}' <<<"$2" | sed 's/@.*//' | grep -v '^lamina_' | sort)
  missing=$(comm -23 <(echo "$expected") <(echo "$found"))
  surplus=$(comm -13 <(echo "$expected") <(echo "$found"))
  wrong=$(awk -v may="[$3]" '$3 ~ /^MPI_/ && $2 !~ may || $3 ~ /^PMPI_/ && $2 != "T" {print $3, $2}' <<<"$2")
  [ -z "$missing" ] || { echo "not exported by $library:"; echo "$missing"; }
  [ -z "$surplus" ] || { echo "exported by $library but not part of the ABI:"; echo "$surplus"; }
  [ -z "$wrong" ] || { echo "wrong binding in $library (PMPI_ must be strong, an archive's MPI_ weak):"; echo "$wrong"; }
  [ -z "$missing$surplus$wrong" ] || failed=1
}
names "$shared" "$(nm -gD --defined-only "$shared")" TW # the loader takes the first of a name, weak or not
names "$archive" "$(nm -g --defined-only "$archive")" W

runtime=$(readelf -dW "$shared" | grep -oE 'NEEDED.*lib(stdc\+\+|c\+\+|m\.so).*')
runtime+=$(nm -u "$archive" | grep ' U _Z')
runtime+=$(nm "$shared" "$archive" | grep __cxa_demangle) # 40 kB, to print the name of an exception
runtime+=$(nm "$shared" "$archive" | grep -m1 _ZNSt6locale) # 1.3 MB, made ready at every start; streams bring it
[ -z "$runtime" ] || { echo "a runtime of others: $runtime"; failed=1; }
exit $failed
