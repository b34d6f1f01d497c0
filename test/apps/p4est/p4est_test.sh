#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   libsc, which p4est brings along, finds our shared windows, builds unchanged, and its test of
#         arrays shared by the ranks of a node passes: MPI_Win_allocate_shared, MPI_Win_shared_query and
#         locks of own memory.
# Method: its own configure and makefile; its test_node_comm, test_notify and test_allgather.
#
# usage: p4est_test.sh CASES.SH THIRD_PARTY.SH FETCH PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
use_prefix "${4-}"
work=$(mktemp -d "$TEST_TMPDIR/p4est.XXXXXX")
programs="sc_test_node_comm sc_test_notify sc_test_allgather"

begin build
if ! unpack p4est "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work/sc" || exit 1
# The archive has the sources as they are before autoconf.
if ! command -v autoreconf libtoolize > /dev/null; then
  skip "autoconf or libtool is missing"
  conclude
  exit
fi
if ./bootstrap > build.log 2>&1 &&
  ./configure --enable-mpi --disable-shared --without-blas --without-lapack CC="$mpicc" CFLAGS="-O1 -w" >> build.log 2>&1 &&
  make ${programs//sc_test/test/sc_test} >> build.log 2>&1; then
  pass
else
  tail -20 build.log
  fail "does not build"
fi

begin "shared windows are found"
if grep -q '^#define SC_ENABLE_MPIWINSHARED 1' src/sc_config.h; then pass; else fail "configure missed them"; fi

for program in $programs; do
  for ranks in 1 2 4 8; do
    begin "$program on $ranks ranks"
    if launch "$ranks" "test/$program" > out 2>&1; then
      pass
    else
      tail -5 out
      fail "exit status"
    fi
  done
done
conclude
