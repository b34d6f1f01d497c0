#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   PnetCDF builds unchanged and passes its own parallel tests in C: collective and independent access,
#         nonblocking requests put together, file views of subarrays, hints, errors of one rank in a collective.
# Method: its own configure, makefile and `make ptest`, which is on four ranks, and `make ptest6` of those that can do
#         with six. The programs verify what they have written.
#
# usage: pnetcdf_test.sh CASES.SH THIRD_PARTY.SH FETCH PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
use_prefix "${4-}"
work=$(mktemp -d "$TEST_TMPDIR/pnetcdf.XXXXXX")

begin build
if ! unpack pnetcdf "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work" || exit 1
# shellcheck disable=SC2086  # several words
if ! command -v $pnetcdf_needs > /dev/null; then
  skip "one of these is missing: $pnetcdf_needs"
  conclude
  exit
fi
if configure_pnetcdf TESTMPIRUN="$launcher -n NP" > build.log 2>&1 &&
  make -j2 >> build.log 2>&1 && make -j2 tests >> build.log 2>&1; then
  pass
else
  tail -20 build.log
  fail "does not build"
fi

# usage: run_tests MINIMUM FOLDER TARGET...: at least so many of the tests in the folder pass, and none fails
run_tests() {
  begin "its parallel tests: $3 in $2"
  timeout -k 5 900 make -C "$2" "${@:3}" > out 2>&1
  status=$?
  passed=$(grep -c -- '------ pass' out)
  echo "$passed of its tests passed"
  if [[ $status -ne 0 ]]; then
    tail -20 out
    fail "exit status $status"
  elif [[ $passed -lt $1 ]]; then
    fail "only $passed of its tests ran"
  else
    pass
  fi
}
run_tests 50 . ptest
run_tests 20 test/testcases ptest6
run_tests 5 test/nonblocking ptest6
conclude
