#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   where a file system is full or read-only, or a rank is killed in any round of a write
#         together, the job ends soon and right, and leaves no file but the program's own.
# Method: real file systems, mounted for this test alone; faults.c says what must happen.
#
# usage: faults_test.sh CASES.SH MPIEXEC PROGRAM
set -uo pipefail
. "$1"
mpiexec=$2 program=$3
folder=$(mktemp -d "${TEST_TMPDIR:-/tmp}/faults.XXXXXX")
trap 'rm -rf "$folder"' EXIT

run() { timeout 60 "$mpiexec" --oversubscribe -n 3 "$program" "$@" > "$folder.out" 2>&1; }

# Expects of the file system mounted with options $2 the class $1. Nothing may be left in it.
mounted() {
  unshare --mount bash -c '
    mount -t tmpfs -o "$1" none "$2" && shift && folder=$1 && shift || exit 3
    "$@"; status=$?; ls -A "$folder"; exit $status' - "$2" "$folder" \
    timeout 60 "$mpiexec" --oversubscribe -n 3 "$program" full "$folder/a" "$1" \
    > "$folder.out" 2>&1
}
for case in "room size=1m" "writing size=1m,ro"; do
  begin "no ${case% *}"
  # shellcheck disable=SC2086  # two words
  mounted $case
  status=$?
  if [[ $status -eq 3 ]]; then
    skip "nothing can be mounted here"
  elif [[ $status -eq 0 && ! -s $folder.out ]]; then
    pass
  else
    cat "$folder.out"
    fail "exit status $status, or something was printed or left"
  fi
done

# The first rank moves 4096 bytes for all in each round. In every round it dies itself, or lets another rank die, whose
# data it may then wait for.
killed() {
  local status left
  begin "$1 $2: rank $4 killed in round $5"
  run killed "$folder/a" "${@:1:5}"
  status=$?
  left=$(ls -A "$folder")
  rm -f "$folder/a"
  if [[ $status -eq 137 && $left == a ]] && grep -q "rank $4 .*SIGKILL" "$folder.out"; then
    pass
  else
    cat "$folder.out"
    fail "exit status $status, left behind: $left"
  fi
}
for round in 1 2 3 4 5; do
  for victim in 0 2; do
    killed together write 0 $victim $round
    killed together read 0 $victim $round
  done
done
for round in 2 5; do
  for way in later together-split; do
    killed $way write 0 0 $round
    killed $way read 0 1 $round
  done
done
# Who holds the place in the file dies itself, or lets another one die.
for way in dense nonblocking split direct shared ordered; do
  for victim in 0 2; do
    killed $way write 0 $victim 2
    killed $way read 0 $victim 1
  done
done
rm -f "$folder.out"
conclude
