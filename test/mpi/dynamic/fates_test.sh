#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   jobs that are connected share their fate, with one message and one status; jobs that have
#         parted do not; and nothing is left of either.
# Method: fates.c is told what shall happen; who is left is looked for by the program's path.
launcher=$PWD/$1
program=$(readlink -f "$2")
# shellcheck source=test/cases.sh
. test/cases.sh

# Whoever was killed may need a moment to go.
all_gone() {
  local until=$((SECONDS + 20))
  while pgrep -f "^$program" > /dev/null; do
    ((SECONDS < until)) || return 1
  done
}

# alone WHAT MESSAGE: runs the program without an mpiexec; nothing of it may stay.
alone() {
  begin "$1"
  local output
  output=$(LAMINA_DYNAMIC_SPAWN_LAUNCHER="$launcher" timeout 50 "$program" "$1" 2>&1)
  if ! grep -q -- "$2" <<< "$output"; then
    fail "nothing says: $2, but: $output"
  elif ! all_gone; then
    fail "something is left: $(pgrep -af "^$program")"
  else
    pass
  fi
}

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
  elif ! all_gone; then
    fail "something is left: $(pgrep -af "^$program")"
  else
    pass
  fi
}

# What a job says that only waits for what it has spawned. A slow machine needs more time.
hang() {
  begin "hang"
  local output seconds
  for seconds in 3 9 27; do
    output=$(timeout 50 "$launcher" --timeout $seconds --oversubscribe -n 1 "$program" hang 2>&1)
    ! grep -q 'still running: 2 ranks of jobs that it has spawned' <<< "$output" || break
  done
  if ! grep -q 'still running: 2 ranks of jobs that it has spawned' <<< "$output"; then
    fail "it says: $output"
  elif ! all_gone; then
    fail "something is left: $(pgrep -af "^$program")"
  else
    pass
  fi
}

hang
is child 2 137 'mpiexec: rank 1 on .* (spawned) was killed by signal 9'
is parent 2 137 'mpiexec: rank 1 on .* was killed by signal 9'
is abort 2 7 'mpiexec: rank 1 on .* (spawned) called MPI_Abort with code 7'
# D13: who has parted does not care.
is parted 2 0 'mpiexec: rank 1 on .* (spawned) was killed by signal 9'
is parting 2 137 'mpiexec: rank 0 on .* was killed by signal 9'
is outlive 2 0 'child 1 goes on'
is late 2 137 'mpiexec: rank 1 on .* (spawned) was killed by signal 9'
# Whoever is still connected fails as a rank of the same job does that returns a code after MPI_Finalize.
is code 2 3 'mpiexec: rank 1 on .* (spawned) exited with code 3 after MPI_Finalize'
is parted_code 2 0 'mpiexec: rank 1 on .* (spawned) exited with code 3 after MPI_Finalize'
alone lone 'the child is gone'
is loop 1 0 '^0 descriptors more'
conclude
