#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   no bytes from outside break a parser: an error, or something that makes sense.
# Method: the parser's own test with bytes at random, again and again for SECONDS, each time with another
#         seed, under the sanitizers of the tier. To repeat what failed: the same binary with
#         --gtest_shuffle --gtest_random_seed=SEED.
#
# usage: fuzz_test.sh CASES.SH SECONDS BINARY TEST
set -uo pipefail
. "$1"
seconds=$2 binary=$3 test=$4
log=$(mktemp "${TEST_TMPDIR:-/tmp}/fuzz.XXXXXX")
trap 'rm -f "$log"' EXIT

begin "$test"
rounds=0
while ((SECONDS < seconds)); do
  seed=$((RANDOM * 3 + rounds % 3 + 1))  # gtest takes 1 to 99999
  if ! "$binary" --gtest_filter="$test" --gtest_shuffle --gtest_random_seed="$seed" > "$log" 2>&1 ||
    ! grep -q '^\[  PASSED  \] 1 test' "$log"; then
    tail -40 "$log"
    fail "seed $seed"
    conclude
    exit 1
  fi
  rounds=$((rounds + 1))
done
echo "$rounds rounds"
pass
conclude
