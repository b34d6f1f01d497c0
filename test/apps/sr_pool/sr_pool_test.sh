#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   a task pool over lamina/sr.h computes the right number on any number of nodes, whoever calls
#         for the exit; a stream arrives whole.
# Method: sr_pool checks its number itself; the sum of the stream is known.
#
# usage: sr_pool_test.sh CASES.SH MPIEXEC SR_POOL
set -uo pipefail
. "$1"
launcher="$(realpath -s "$2") --oversubscribe"
program=$(realpath -s "$3")
cd "${TEST_TMPDIR:-/tmp}" || exit 1

run() { timeout -k 5 60 $launcher -n "$1" "$program" "${@:2}" > out 2> err < /dev/null; }

for ranks in 1 2 4 16; do
  for last in 0 1 15; do
    begin "fib on $ranks nodes, exit begun by $last of them"
    if run $ranks fib 20 $last && [[ $(cat out) == "fib 20 = 6765" && ! -s err ]]; then
      pass
    else
      fail "$(tail -3 out err)"
    fi
  done
done

begin "a stream of two producers"
if run 3 stream 50000 && [[ $(cat out) == "100000 tuples, sum 12500749920" ]]; then
  pass
else
  fail "$(tail -3 out err)"
fi

conclude
