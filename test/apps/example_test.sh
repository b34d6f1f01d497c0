#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the example of the top README is not just text.
# Method: its lines are cut out, compiled with the mpicc of an installation and run on four ranks;
#         the answer is what the README says it is. The same as C++.
#
# usage: example_test.sh CASES.SH THIRD_PARTY.SH README.MD PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
readme=$(realpath "$3")
use_prefix "${4-}"
cd "$TEST_TMPDIR" || exit 1

sed -n '/^```c$/,/^```$/p' "$readme" | sed '1d;$d' > example.c
says=$(sed -n 's/.*says `\(the ranks .*\)`.*/\1/p' "$readme")
cp example.c example.cc
for compiler in mpicc mpicxx; do
  begin "$compiler"
  source=example.c
  [[ $compiler == mpicc ]] || source=example.cc
  rm -f example
  if ! "${mpicc%mpicc*}$compiler${mpicc##*mpicc}" $source -o example; then
    fail "does not compile"
  elif ! launch 4 ./example > out; then
    fail "exit status"
  elif [[ $(cat out) != "$says" || -z $says ]]; then
    fail "says '$(cat out)', the README '$says'"
  else
    pass
  fi
done
conclude
