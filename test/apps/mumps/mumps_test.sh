#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   MUMPS, a parallel direct solver in Fortran, builds unchanged with our mpifort and mpicc
#         and solves systems exactly.
# Method: its library for double precision and its own example, which knows its answer; laplace.f90.
#
# usage: mumps_test.sh CASES.SH THIRD_PARTY.SH FETCH MAKEFILE.INC LAPLACE.F90 SCALAPACK.F90 \
#                      PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
sources=("$PWD/$4" "$PWD/$5" "$PWD/$6")
use_prefix "${7-}"
work=$(mktemp -d "$TEST_TMPDIR/mumps.XXXXXX")

begin build
if ! unpack mumps "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work" || exit 1
cp "${sources[@]}" .
libraries="-Llib -ldmumps -lmumps_common -LPORD/lib -lpord scalapack.o -llapack -lblas -lpthread"
# shellcheck disable=SC2086  # several words
if gfortran -c scalapack.f90 && make -j2 d CC="$mpicc" FC="$mpifort" > build.log 2>&1 &&
  "$mpifort" -w -Iinclude laplace.f90 -o laplace $libraries >> build.log 2>&1; then
  pass
else
  tail -20 build.log
  fail "does not build"
fi

for ranks in 1 2 3 4; do
  begin "laplace on $ranks ranks"
  if [[ ! -x laplace ]]; then
    fail "was not built"
  elif launch "$ranks" ./laplace > out 2>&1 && [[ $(tail -1 out) == solved ]]; then
    pass
  else
    tail -5 out
    fail "exit status or answer"
  fi
done

begin "its own example on 3 ranks"
if [[ ! -x examples/c_example ]]; then
  fail "was not built"
elif launch 3 examples/c_example > out 2>&1 && grep -q 'Solution is : ( *1.00 *2.00)' out; then
  pass
else
  tail -5 out
  fail "exit status or answer"
fi
conclude
