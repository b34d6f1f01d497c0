#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   parallel HDF5 builds unchanged and passes its own parallel tests: datasets in chunks, selections of every
#         shape, metadata that ranks write together, filters, files beyond 2 GiB, flushes by killed ranks.
# Method: its own configure and makefile; each of its programs on four ranks and on six, which verify what they have written.
#
# usage: hdf5_test.sh CASES.SH THIRD_PARTY.SH FETCH PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
use_prefix "${4-}"
work=$(mktemp -d "$TEST_TMPDIR/hdf5.XXXXXX")
launch_seconds_max=1200
# In the order of HDF5's own makefile.
programs="t_mpi t_bigio testphdf5 t_cache t_cache_image t_pread t_pshutdown t_prestart t_init_term t_shapesame
          t_filters_parallel"

begin build
if ! unpack hdf5 "$work"; then
  skip "archive not reachable: $unpack_why"
  conclude
  exit
fi
cd "$work" || exit 1
if configure_hdf5 --disable-hl > build.log 2>&1 &&
  make -j2 -C src >> build.log 2>&1 && make -j2 -C test libh5test.la >> build.log 2>&1 &&
  make -j2 -C testpar $programs t_pflush1 t_pflush2 >> build.log 2>&1; then
  pass
else
  tail -20 build.log
  fail "does not build"
fi
cd testpar || exit 1

for ranks in 4 6; do
  for program in $programs; do
    begin "$program on $ranks ranks"
    if launch $ranks "./$program" > out 2>&1; then
      pass
    else
      status=$?
      grep -v PASSED out | tail -20
      fail "exit status $status"
    fi
  done

  # The first program ends without closing its files, of which one was flushed; the second one reads them.
  begin "t_pflush1 and t_pflush2 on $ranks ranks"
  launch $ranks ./t_pflush1 > out 2>&1
  if launch $ranks ./t_pflush2 > out2 2>&1; then
    pass
  else
    tail -20 out out2
    fail "the flushed file was not found whole"
  fi
done
conclude
