#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   FFTW's parallel transforms build unchanged with our mpicc and are right by its own account.
# Method: its configure and makefiles; its bench program verifies (linearity, impulses, shifts) complex,
#         real and trigonometric transforms of one to four dimensions, in place (i) and out of it (o),
#         forward and backward, transposed before ([) or after (]), of vectors (v), at lengths that
#         the ranks do not divide. Every plan it tries is an exchange of its own kind.
#
# usage: fftw_test.sh CASES.SH THIRD_PARTY.SH FETCH PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
use_prefix "${4-}"
work=$(mktemp -d "$TEST_TMPDIR/fftw.XXXXXX")

begin build
if ! unpack fftw3 "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work" || exit 1
if { ./configure --enable-mpi --disable-fortran --disable-doc MPICC="$mpicc" CFLAGS="-O1 -w" &&
  make -j2; } > build.log 2>&1; then
  pass
else
  tail -20 build.log
  fail "does not build"
fi

problems=(ofc1024 ibc3744 ofcd90v1 ofc64x32 'ifc[80x21' 'obc]20x35' ibc10x18x14 'ifc[7x7x5x9v3'
          ofr9x13 'obr[7x8x4v12' ifr10x3x9x6v1 'ok[6o11x3o10x7o00x6b' 'ik]6o10x8o10x4e01')
for ranks in 1 2 3 5; do
  begin "${#problems[@]} transforms on $ranks ranks"
  if [[ ! -x mpi/mpi-bench ]]; then
    fail "was not built"
  elif ! launch "$ranks" mpi/mpi-bench --verbose=1 "${problems[@]/#/--verify=}" > out 2>&1; then
    tail -5 out
    fail "exit status"
  # There is a line for each transform, with its name and three errors.
  elif [[ $(grep -cE '^[^ ]+( [0-9.]+(e-[0-9]+)?){3}$' out) -eq ${#problems[@]} ]]; then
    pass
  else
    tail -20 out
    fail "a result is missing"
  fi
done
conclude
