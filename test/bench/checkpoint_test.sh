#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   the rows of `checkpoint` can be measured.
# Method: short ones of each kind are, once, with a built installation; what comes out counts as a value,
#         whatever it is. TEST_CRIU names the program criu.
#
# usage: checkpoint_test.sh CASES.SH PREFIX.TAR CHECKPOINT
set -uo pipefail
. "$1"
prefix=$TEST_TMPDIR/prefix
mkdir -p "$prefix" && tar -xf "$2" -C "$prefix" || exit 1

# measured VALUES ROW: as many lines of the row have a value, a floor or none, and an aim.
measured() {
  local value='[0-9.]+ (s|ms|us|kB)' said
  begin "$2"
  said=$(timeout -k 5 120 "$checkpoint" --prefix "$prefix" --criu "${TEST_CRIU-criu}" --folder "$TEST_TMPDIR" --rounds 1 "$2" 2>&1)
  if [[ $(grep -cE "^$kind, .* $value +($value +)?$value *$" <<< "$said") -eq $1 ]]; then
    pass
  elif [[ $2 == saved* && $said == *criu* ]]; then
    skip "${said#*$'\n'}"
  else
    fail "$said"
  fi
}

checkpoint=$(realpath -s "$3")
kind=rest measured 1 'rest, 1'
kind=rest measured 1 'rest, 8 computing'
kind=stopped measured 2 'stopped*'
kind=unused measured 4 unused
kind='(saved|complete|restart)' measured 3 'saved, 16'
conclude
