#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   straight between the buffers is tried beside the board, and of long calls few decide.
# Method: the line at level debug that ends a trial comes after as many calls as it takes at least, and
#         not before. Ranks that share CPUs try this in an alltoall, others in a bcast too.
set -u
mpiexec=$1 program=$2

fail() {
  printf 'ways_test: %s\n' "$*" >&2
  exit 1
}

# trials OPERATION BYTES CALLS AREA prints what $ranks ranks that wait in $mode said about their trials.
trials() {
  local output
  output=$(timeout 50 "$mpiexec" --oversubscribe -n $ranks --param p2p.wait.mode=$mode \
    --param collective.board.calls_before=0 \
    --param collective.board.area_bytes="$4" --param base.log.level=debug \
    "$program" "$1" "$2" "$3" 2>&1) || fail "$* failed: $output"
  grep 'weighed:' <<< "$output"
}

# weighs OPERATION BYTES CALLS AREA checks that so many calls decide.
weighs() {
  local said
  said=$(trials "$@") || return 1
  [[ $said == *"weighed: the board "*" ns, the buffers themselves "*" ns" ]] || fail "$*: $said"
}

# decides OPERATION BYTES LEAST AREA checks that at least so many calls decide, and at most 12 of each way.
decides() {
  weighs "$1" "$2" $(($3 - 1)) "$4" && fail "$*: fewer calls were enough"
  weighs "$1" "$2" $((8 + 12 * ways)) "$4" || fail "$*: nothing was weighed"
}

ranks=4 mode=oversubscribed
if ! trials alltoall 131072 100 65536 > /dev/null; then
  echo "SKIP: processes may not reach each other's memory here"
  exit 0
fi
ways=2
short=$((8 + 6 * ways)) long=$((1 + 3 * ways))

# check OPERATION decides short and long calls of it.
check() {
  decides $1 32768 $short 4194304
  decides $1 131072 $long 65536
  # How many calls are too many depends on disturbances, which hardly make it three times as many.
  local attempts=0
  until weighs $1 131072 $((short - 1)) 65536; do
    ((++attempts < 3)) || fail "$1: a long one takes as many as a short one"
  done
}
check alltoall
ranks=2 mode=exclusive
check bcast
# The size of a bcast is all that it sends and not the part of each rank.
decides bcast 65536 $short 65536
echo PASS
