#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   no bytes from outside break a parser: an error, or something that makes sense.
# Method: libFuzzer changes the inputs of the corpus for FUZZ_SECONDS, a minute by default, and goes on
#         with those that reach other code. What it learns stays in $FUZZ_FOUND/NAME/corpus for the next
#         run, and an input that breaks the parser in $FUZZ_FOUND/NAME.
#
# usage: fuzz_test.sh CASES.SH FUZZER CORPUS [DICTIONARY]
set -uo pipefail
. "$1"
fuzzer=$2 corpus=$3 dictionary=${4-}
name=${corpus##*/}
found=${FUZZ_FOUND:-$TEST_TMPDIR}/$name
mkdir -p "$found/corpus"
log=$found/log

begin "$name"
if "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -timeout=30 -rss_limit_mb=2560 \
  -use_value_profile=1 -print_final_stats=1 -artifact_prefix="$found/" ${dictionary:+-dict="$dictionary"} \
  "$found/corpus" "$corpus" > "$log" 2>&1; then
  grep -E '^(Done|stat::)' "$log"
  pass
else
  tail -60 "$log"
  input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
  fail "${input:-no input was kept; all of the log is in $log}"
fi
conclude
