#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   netCDF builds unchanged on parallel HDF5 and on PnetCDF, and passes its own parallel tests: collective and
#         independent access, ranks without data, compressed and quantized variables, files of both formats.
# Method: the configure and makefiles of all three; each of its parallel programs on four ranks, and on six where it
#         takes such a number. They verify what they have written.
#
# usage: netcdf_test.sh CASES.SH THIRD_PARTY.SH FETCH PREFIX.TAR
set -uo pipefail
. "$1"
. "$2"
fetch=$PWD/$3
use_prefix "${4-}"
work=$(mktemp -d "$TEST_TMPDIR/netcdf.XXXXXX")
libs=$work/libs
launch_seconds_max=600
on_hdf5="tst_mpi_parallel tst_parallel tst_parallel3 tst_parallel4 tst_parallel5 tst_nc4perf tst_mode
         tst_simplerw_coll_r tst_parallel_zlib tst_parallel_compress tst_quantize_par tst_parallel6"
of_any_number="tst_mpi_parallel tst_parallel tst_parallel3 tst_parallel_compress tst_parallel6"

begin build
for package in hdf5 pnetcdf netcdf; do
  if ! unpack $package "$work/$package"; then
    skip "archive not reachable: $unpack_why"
    conclude
    exit
  fi
done
# shellcheck disable=SC2086  # several words
if ! command -v $pnetcdf_needs > /dev/null; then
  skip "one of these is missing: $pnetcdf_needs"
  conclude
  exit
fi
build() {
  # shellcheck disable=SC2086  # several words
  cd "$work/hdf5" && configure_hdf5 --prefix="$libs" --enable-hl --disable-tests &&
    make -j2 -C src && make -j2 -C hl/src && make -C src install && make -C hl/src install &&
    cd "$work/pnetcdf" && configure_pnetcdf --prefix="$libs" && make -j2 -C src && make -C src install &&
    cd "$work/netcdf" &&
    ./configure CC="$mpicc" CPPFLAGS="-I$libs/include" LDFLAGS="-L$libs/lib" CFLAGS="-O1 -w" --disable-shared \
      --disable-dap --disable-byterange --disable-plugins --disable-nczarr --disable-libxml2 --enable-pnetcdf \
      --enable-parallel-tests --with-mpiexec="$launcher" &&
    for folder in include libdispatch libsrc libsrcp libsrc4 libhdf5 liblib; do make -j2 -C $folder || return; done &&
    make -j2 -C nc_test4 $on_hdf5 && make -j2 -C nc_test tst_pnetcdf tst_parallel2
}
if build > "$work/build.log" 2>&1; then
  pass
else
  tail -20 "$work/build.log"
  fail "does not build"
fi

# usage: check FOLDER RANKS PROGRAM
check() {
  begin "$3 on $2 ranks"
  cd "$work/netcdf/$1" || exit 1
  if launch "$2" "./$3" > out 2>&1; then
    pass
  else
    status=$?
    tail -20 out
    fail "exit status $status"
  fi
}
for program in $on_hdf5; do
  # One of them is a test of flags, and says so if it has several ranks.
  if [[ $program == tst_mode ]]; then check nc_test4 1 $program; else check nc_test4 4 $program; fi
done
for program in $of_any_number; do check nc_test4 6 $program; done
check nc_test 1 tst_pnetcdf
check nc_test 4 tst_parallel2
conclude
