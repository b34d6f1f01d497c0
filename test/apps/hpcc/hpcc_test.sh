#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   HPCC builds unchanged with our mpicc and passes its own checks.
# Method: its own make with the description in Make.lamina; a small problem, so that it takes
#         seconds; the answer is what its report says of itself. A library that counts by itself stands
#         before MPI's where the page of `mpiexec --profile` is looked at.
#
# usage: hpcc_test.sh CASES.SH THIRD_PARTY.SH FETCH MAKE.LAMINA COUNTER.C PAGE_CHECK.PY PAGE.PY PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3 description=$PWD/$4 counter=$PWD/$5 page_check=$PWD/$6
use_prefix "${8-}"
work=$(mktemp -d "$TEST_TMPDIR/hpcc.XXXXXX")

begin build
if ! unpack hpcc "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work" || exit 1
cp "$description" hpl/
if make -j2 arch=lamina MPICC="$mpicc" > build.log 2>&1; then
  pass
else
  grep -B2 -A4 'error' build.log | head -40
  fail "does not build"
fi

# Makes the program's own input file with a smaller problem on a grid of $1 x $2.
input() {
  sed -e "s/^2 \( *Ps\)/$1 \1/; s/^2 \( *Qs\)/$2 \1/; s/^1000\( *Ns\)/400 \1/; s/^80\( *NBs\)/32\1/" \
    _hpccinf.txt > hpccinf.txt
}

# expect PATTERN COUNT WHAT wants lines like PATTERN at least COUNT times in the report.
expect() {
  [[ $(grep -cE "$1" hpccoutf.txt) -ge $2 ]] || { problem+=" $3"; }
}

for shape in "1 2" "2 2"; do
  ranks=$((${shape% *} * ${shape#* }))
  begin "hpcc on $ranks ranks"
  [[ -x hpcc ]] || { fail "was not built"; continue; }
  # shellcheck disable=SC2086  # two words
  input $shape
  rm -f hpccoutf.txt
  if ! launch "$ranks" ./hpcc > out 2>&1; then
    tail -5 out hpccoutf.txt
    fail "exit status"
    continue
  fi
  problem=
  expect '^\|\|Ax-b\|\|_oo/.* PASSED' 1 "HPL did not pass;"
  expect '^WALL .* PASSED' 5 "PTRANS did not pass;"
  expect 'Found 0 errors in .* \(passed\)' 4 "RandomAccess did not pass;"
  expect 'Solution Validates' 1 "STREAM did not pass;"
  expect '^Success=1' 1 "no success in its summary;"
  expect '^MPIRandomAccess_Errors=0' 1 "MPIRandomAccess had errors;"
  expect '^MPIFFT_maxErr=[0-9.]*e-1[0-9]' 1 "MPIFFT is inexact;"
  expect '^CommWorldProcs='$ranks'$' 1 "it saw another number of ranks;"
  grep -E 'FAILED|\(failed\)' hpccoutf.txt && problem+=" it reports a failure;"
  if [[ -z $problem ]]; then pass; else fail "$problem"; fi
done

# page NAME RANKS ROWS OPTION...: the page of a run on a grid with as many columns as rows.
page() {
  begin "$1"
  local ranks=$2 rows=$3 status=0
  shift 3
  if [[ -n ${MPICC-} ]]; then
    skip "another MPI has no such page"
    return
  fi
  input "$rows" "$rows"
  if ! $mpicc -shared -fPIC -O1 "$counter" -o counter.so; then
    fail "$counter does not build"
  elif ! launch "$ranks" --profile=page.html -x LD_PRELOAD="$PWD/counter.so" "$@" ./hpcc > out 2>&1; then
    tail -5 out
    fail "exit status"
  else
    "$page_check" page "$ranks" > why || status=$?
    case $status in
      0) pass ;;
      3) skip "$(< why)" ;;
      *) cat why; fail "the page is not what was counted" ;;
    esac
  fi
}

printf '#!/bin/sh\nshift\nexec "$@"\n' > agent && chmod +x agent
page "page of one rank" 1 1
page "page of four ranks" 4 2
page "page of two hosts" 4 2 --agent "$PWD/agent {host}" -H one:2,two:2
conclude
