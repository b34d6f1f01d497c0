#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   programs that spawn jobs, find them by a name and part with them work as their users mean
#         them, and leave nothing behind, however often.
# Method: loop.c, pool.c and coupled.c check what they compute; here it is compared how much there is
#         of everything before and after. Environment LAUNCH names another launcher, to validate the
#         programs on another MPI.
#
# usage: jobs_test.sh TURNS MPIEXEC LOOP POOL COUPLED CASES.SH
set -uo pipefail
turns=$1 launch=${LAUNCH-$(realpath -s "$2") --oversubscribe}
loop=$(realpath -s "$3") pool=$(realpath -s "$4") coupled=$(realpath -s "$5")
. "$6"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
service="lamina jobs $$"

# is STATUS COMMAND...: what it says is left in $said.
is() {
  local wanted=$1 status
  shift
  said=$(timeout 600 "$@" 2>&1)
  status=$?
  printf '%s\n' "$said"
  [[ $status -eq $wanted ]] || { fail "$* ends with status $status, not $wanted"; return 1; }
}

# What outlives a process, and processes of these programs.
left() {
  ls -d /dev/shm/* /tmp/* 2> /dev/null | grep -iE 'lamina\.|pmix|gds|dstore'
  pgrep -f "^($loop|$pool|$coupled)"
}

# no_more WORD MAX: the loop's line about WORD counts at most so many of each.
no_more() {
  local numbers
  read -ra numbers <<< "$(sed -n "s/^$1: \([0-9-]*\) descriptors, \([0-9-]*\) mappings, \([0-9-]*\) KiB more/\1 \2 \3/p" <<< "$said")"
  [[ ${#numbers[@]} -eq 3 ]] || { fail "no line about $1"; return 1; }
  [[ ${numbers[0]} -le 0 ]] || { fail "$1 has ${numbers[0]} descriptors more"; return 1; }
  [[ ${numbers[1]} -le 4 ]] || { fail "$1 has ${numbers[1]} mappings more"; return 1; }
  [[ ${numbers[2]} -le $2 ]] || { fail "$1 has ${numbers[2]} KiB more"; return 1; }
}

# background COMMAND...: starts it, and waits until it says that it is open.
background() {
  mkfifo "$work/open"
  timeout 50 "$@" > "$work/open" 2> "$work/errors" &
  exec 3< "$work/open"
  rm "$work/open"
  local line
  read -r line <&3
  [[ $line == open ]]
}

# Events and the table of rings are pages that are touched once, however many jobs come; each process
# that was met leaves about a hundred bytes.
touched=$((turns < 300 ? turns : 300))
begin "D1, D14: $turns jobs in a row"
before=$(left)
# shellcheck disable=SC2086 # the launcher is words
if is 0 $launch -n 1 "$loop" "$turns" && no_more parent $((64 + touched + turns / 8)) &&
  no_more mpiexec 64; then
  more=$(comm -13 <(sort <<< "$before") <(left | sort))
  [[ -z $more ]] && pass || fail "left behind: $more"
fi

begin "a pool of workers in a thread"
# shellcheck disable=SC2086
is 0 $launch -n 1 "$pool" && pass

begin "a pool that is found by a name"
# shellcheck disable=SC2086
background $launch -n 3 "$pool" serve "$service" && is 0 $launch -n 1 "$pool" use "$service" && wait $! && pass ||
  fail "the pool says: $(cat "$work/errors")"

# couple LEFT RIGHT STATUS WORD...: both halves, with so many ranks; STATUS is that of the right one.
couple() {
  local first
  # shellcheck disable=SC2086
  background $launch -n "$1" "$coupled" left "$service" 500 || { fail "no left half"; return 1; }
  # shellcheck disable=SC2086
  is "$3" $launch -n "$2" "$coupled" right "$service" 500 "${@:4}" || return 1
  right=$(grep -v mpiexec <<< "$said")
  wait $! || { fail "the left half has failed: $(cat "$work/errors")"; return 1; }
  left=$(cat <&3)
}

begin "two solvers, each with an mpiexec of its own"
if couple 1 1 0; then
  alone=$left,$right
  couple 2 3 0 && { [[ $left,$right == "$alone" && $(wc -w <<< "$left") -eq 2 ]] && pass ||
    fail "2 and 3 ranks compute $left,$right and 1 and 1 $alone"; }
fi

begin "D13: a solver whose other half was killed once they had parted"
couple 2 1 137 die && { [[ $left,${right%% *} == "$alone"* || $left == "${alone%,*}" ]] && pass ||
  fail "it computes $left and not ${alone%,*}"; }
conclude
