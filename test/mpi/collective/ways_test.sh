#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   where ranks share CPUs, writing the board past the caches is tried too, and of long calls few
#         decide.
# Method: the line at level debug that ends a trial comes after as many calls as it takes at least, and
#         not before. Without the kernel's copies there are two ways.
set -u
mpiexec=$1 program=$2

fail() {
  printf 'ways_test: %s\n' "$*" >&2
  exit 1
}

# trials OPERATION BYTES CALLS AREA prints what the ranks said about their trials.
trials() {
  local output
  output=$(timeout 50 "$mpiexec" --oversubscribe -n 4 --param p2p.wait.mode=oversubscribed \
    --param collective.board.calls_before=0 --param collective.board.single_copy=never \
    --param collective.board.area_bytes="$4" --param base.log.level=debug \
    "$program" "$1" "$2" "$3" 2>&1) || fail "$* failed: $output"
  grep 'weighed:' <<< "$output"
}

# weighs OPERATION BYTES CALLS AREA checks that so many calls decide.
weighs() {
  local said
  said=$(trials "$@") || return 1
  [[ $said == *"weighed: the board "*" ns, the board past the caches "*" ns" ]] || fail "$*: $said"
}

# decides OPERATION BYTES LEAST AREA checks that at least so many calls decide, and at most 12 of each way.
decides() {
  weighs "$1" "$2" $(($3 - 1)) "$4" && fail "$*: fewer calls were enough"
  weighs "$1" "$2" $((8 + 12 * ways)) "$4" || fail "$*: nothing was weighed"
}

if [[ $(uname -m) != x86_64 ]]; then
  echo "SKIP: no streaming stores on $(uname -m)"
  exit 0
fi
ways=2
short=$((8 + 6 * ways)) long=$((1 + 3 * ways))
for operation in bcast alltoall; do
  decides $operation 32768 $short 4194304
  decides $operation 131072 $long 65536
  # How many calls are too many depends on disturbances, which hardly make it three times as many.
  attempts=0
  until weighs $operation 131072 $((short - 1)) 65536; do
    ((++attempts < 3)) || fail "$operation: a long one takes as many as a short one"
  done
done
# The size of a bcast is all that it sends and not the part of each rank.
decides bcast 65536 $short 65536
echo PASS
