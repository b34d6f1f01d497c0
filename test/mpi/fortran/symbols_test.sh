#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the Fortran libraries have every procedure under the names that MPI-5.0, section 19.1.5, gives
#         it, with MPI_ and PMPI_, export nothing of their own besides and need no C++ runtime. In the
#         archive a program may replace what is not PMPI_ (section 15.2), and nothing else.
# Method: the names are made here from the table of C functions and looked up in the libraries.
# usage: symbols_test.sh FUNCTIONS.tsv SHARED-LIBRARY ARCHIVE
set -euo pipefail
export LC_ALL=C
functions=$1 shared=$2 archive=$3

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

failed=0
# names LIBRARY NAME... : the library has these, and none but the binding's
names() {
  local library=$1 has=${*:2} missing foreign
  has=$(printf '%s\n' $has | sort -u)
  missing=$(comm -13 <(printf '%s\n' "$has") <(printf '%s\n' "$wanted"))
  foreign=$(printf '%s\n' "$has" | grep -Ev '^p?mpi_|^__(lamina_mpi_types|mpi|mpi_f08)_MOD_' || true)
  [[ -z $missing ]] || { printf "$library misses: %s\n" $missing; failed=1; }
  [[ -z $foreign ]] || { printf "foreign to $library: %s\n" $foreign; failed=1; }
}
names "$shared" $(nm -D --defined-only "$shared" | awk '{ print $3 }')
names "$archive" $(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }')

runtime=$(readelf -dW "$shared" | grep -oE 'NEEDED.*lib(stdc|c)\+\+.*' || true)
runtime+=$(nm -u "$archive" | grep ' U _Z' || true)
[[ -z $runtime ]] || { echo "a C++ runtime: $runtime"; failed=1; }

wrong=$(nm -g --defined-only "$archive" |
  awk '$2 != "W" && $3 ~ /^mpi_/ && $3 !~ /^mpi_(fortran_|f08_status)/ || $2 == "W" && $3 !~ /^mpi_/')
[[ -z $wrong ]] || { echo "wrong binding in $archive: $wrong"; failed=1; }
exit $failed
