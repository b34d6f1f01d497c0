#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   where ranks share CPUs, writing the board past the caches is tried too, and of long calls few
#         decide.
# Method: the line at level debug that ends a trial comes with the last call of it and not with the one
#         before. Without the kernel's copies there are two ways.
set -u
mpiexec=$1 program=$2

fail() {
  printf 'ways_test: %s\n' "$*" >&2
  exit 1
}

# trials OPERATION BYTES CALLS AREA : what was said of them
trials() {
  local output
  output=$(timeout 50 "$mpiexec" --oversubscribe -n 4 --param progress.wait.mode=oversubscribed \
    --param collective.shared.calls_before=0 --param collective.shared.single_copy=never \
    --param collective.shared.area_bytes="$4" --param base.log.level=debug \
    "$program" "$1" "$2" "$3" 2>&1) || fail "$* failed: $output"
  grep 'weighed:' <<< "$output"
}

# decides OPERATION BYTES CALLS AREA : so many calls, and no fewer, do
decides() {
  local said
  said=$(trials "$1" "$2" $(($3 - 1)) "$4") && fail "$*: fewer calls were enough: $said"
  said=$(trials "$1" "$2" "$3" "$4") || fail "$*: nothing was weighed"
  [[ $said == *"weighed: the board "*" ns, the board past the caches "*" ns" ]] || fail "$*: $said"
}

if [[ $(uname -m) != x86_64 ]]; then
  echo "SKIP: no streaming stores on $(uname -m)"
  exit 0
fi
ways=2
for operation in bcast alltoall; do
  decides $operation 32768 $((8 + 6 * ways)) 4194304
  decides $operation 131072 $((1 + 3 * ways)) 65536
done
# A bcast passes what it sends, not so much of each rank.
decides bcast 65536 $((8 + 6 * ways)) 65536
echo PASS
