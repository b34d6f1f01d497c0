#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   a task pool over lamina/sr.h computes the right number on any number of nodes, whoever calls
#         for the exit; a stream arrives whole; a node that is killed ends all of them at once.
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

begin "a killed node ends all"
mkfifo words
exec 3<> words
$launcher -n 4 "$program" spin >&3 2> err < /dev/null 3>&- &
job=$!
read -r -t 30 -u 3
exec 3>&-
node=$(pgrep -P "$job" -f "$program" | tail -1)
began=$EPOCHREALTIME
kill -9 "$node"
wait "$job"
status=$?
took=$(awk "BEGIN {print ($EPOCHREALTIME - $began < 2)}")
if [[ $status -ne 137 ]]; then
  fail "status $status: $(cat err)"
elif [[ $took -ne 1 ]]; then
  fail "it took more than 2 s"
elif pgrep -P "$job" > left || pgrep -f "$program spin" > left; then
  fail "left processes $(cat left)"
else
  pass
fi
conclude
