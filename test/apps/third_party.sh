# SPDX-License-Identifier: BSD-3-Clause
# For the tests that build other people's programs: a prefix to build against, sources to build.
# Source it after cases.sh.
#
#   use_prefix PREFIX.TAR      # //:prefix, an installation in one file
#   unpack PACKAGE FOLDER      # false: the archive cannot be reached, and $unpack_why says why
#
# Afterwards $mpicc and $mpifort compile, `launch RANKS PROGRAM...` runs with a bound of $launch_seconds_max.
# Environment MPICC, MPIFORT and LAUNCH name another MPI's, to validate the tests themselves.

launch_seconds_max=60

use_prefix() {
  if [[ -n ${MPICC-} ]]; then
    mpicc=$MPICC
    mpifort=${MPIFORT-}
    launcher=$LAUNCH
    return
  fi
  local prefix=$TEST_TMPDIR/prefix
  mkdir -p "$prefix" && tar xf "$1" -C "$prefix" || exit 1
  mpicc=$prefix/bin/mpicc
  mpifort=$prefix/bin/mpifort
  launcher="$prefix/bin/mpiexec --oversubscribe"
}

launch() {
  # shellcheck disable=SC2086  # several words
  timeout -k 5 "$launch_seconds_max" $launcher -n "$1" "${@:2}" < /dev/null
}

unpack() {
  local archive=${TEST_ARCHIVE:-$TEST_TMPDIR/archive} status=0
  unpack_why=$("$fetch" "$archive" "$1" 2>&1) || status=$?
  unpack_why=${unpack_why##*$'\n'}
  case $status in
    0) mkdir -p "$2" && tar xf "$archive/$1.tar.gz" -C "$2" --strip-components=1 || exit 1 ;;
    3) return 1 ;;
    *) echo "fetch: $unpack_why"; exit 1 ;;
  esac
}

# These configure libraries that others are built on, in the folder of their sources, with further options.
configure_hdf5() {
  ./configure CC="$mpicc" --enable-parallel --disable-shared --disable-tools CFLAGS="-O1 -w" "$@"
}
# The archive has the sources of PnetCDF as they are before autoconf.
pnetcdf_needs="autoreconf libtoolize m4"
configure_pnetcdf() {
  autoreconf -i && ./configure MPICC="$mpicc" MPICXX= --disable-cxx --disable-fortran --disable-shared \
    CFLAGS="-O1 -w" "$@"
}
