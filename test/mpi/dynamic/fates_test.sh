#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   jobs that are connected share their fate, with one message and one status; jobs that have
#         parted do not; and nothing is left of either.
# Method: fates.c is told what shall happen; who is left is looked for by the program's path.
launcher=$PWD/$1
program=$(readlink -f "$2")
# shellcheck source=test/cases.sh
. test/cases.sh

# is WHAT RANKS STATUS MESSAGE: runs the program, whose job must end in this way.
is() {
  begin "$1"
  local output status messages
  output=$(timeout 50 "$launcher" --oversubscribe -n "$2" "$program" "$1" 2>&1)
  status=$?
  messages=$(grep -c '^mpiexec: ' <<< "$output")
  printf '%s\n' "$output"
  local wanted=1
  [[ $4 == mpiexec:* ]] || wanted=0
  if [[ $status -ne $3 ]]; then
    fail "the status is $status, not $3"
  elif [[ -n $4 ]] && ! grep -q -- "$4" <<< "$output"; then
    fail "nothing says: $4"
  elif [[ $messages -ne $wanted ]]; then
    fail "mpiexec says $messages things, not $wanted"
  elif pgrep -f "^$program" > /dev/null; then
    fail "something is left: $(pgrep -af "^$program")"
  else
    pass
  fi
}

is child 2 137 'mpiexec: rank 1 on .* was killed by signal 9'
is parent 2 137 'mpiexec: rank 1 on .* was killed by signal 9'
is abort 2 7 'mpiexec: rank 1 on .* called MPI_Abort with code 7'
# D13: who has parted does not care.
is parted 2 0 'mpiexec: rank 1 on .* was killed by signal 9'
is outlive 2 0 'child 1 goes on'
is loop 1 0 '^0 descriptors more'
conclude
