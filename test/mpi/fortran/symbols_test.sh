#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the Fortran library has every procedure under the names that MPI-5.0, section 19.1.5, gives
#         it, with MPI_ and PMPI_, exports nothing of its own besides and needs no C++ runtime.
# Method: the names are made here from the table of C functions and looked up in the library.
# usage: symbols_test.sh LIBRARY FUNCTIONS.tsv
set -euo pipefail
export LC_ALL=C
library=$1 functions=$2
has=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)

# A function with a void* that is no address of something else has choice buffers: _f08ts.
wanted=$(awk -F'\t' 'NR > 1 && $1 !~ /^MPI_T_|_(to|from)int$/ {
  name = tolower($1)
  large = name ~ /_c$/
  buffers = $3
  gsub(/void \*(extra_state|attribute_val|baseptr|buffer_addr|logical_true|logical_false)/, "", buffers)
  kind = buffers ~ /void \*/ ? "_f08ts_" : "_f08_"
  for (i = 0; i < 2; ++i) {
    prefix = i == 0 ? "" : "p"
    if (!large || name ~ /^mpi_(op_create|register_datarep)_c$/) print prefix name "_"
    if ($5 != "MPI-2.0") print prefix name kind
  }
}' "$functions" | sort -u)

missing=$(comm -13 <(printf '%s\n' "$has") <(printf '%s\n' "$wanted"))
foreign=$(printf '%s\n' "$has" | grep -Ev '^p?mpi_|^__(lamina_mpi_types|mpi|mpi_f08)_MOD_' || true)
[[ -z $missing ]] || printf 'missing: %s\n' $missing
[[ -z $foreign ]] || printf 'foreign: %s\n' $foreign
runtime=$(readelf -dW "$library" | grep -oE 'NEEDED.*lib(stdc|c)\+\+.*' || true)
[[ -z $runtime ]] || echo "a C++ runtime: $runtime"
[[ -z $missing && -z $foreign && -z $runtime ]]
