#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal:   mpi.h has every constant, type and prototype of the standard ABI with its value, and compiles
#         without a warning in every C and C++ standard that compilers here know.
# Method: a C program made from the ABI's tables: prototypes and types are declared a second time,
#         which the compiler refuses if they differ; constants are compared at run time.
header=$1 functions=$2 constants=$3 types=$4
directory=$(mktemp -d "${TEST_TMPDIR:-/tmp}/abi.XXXXXX")
trap 'rm -rf "$directory"' EXIT
include=$(cd "$(dirname "$header")" && pwd)

{
  echo '#include <mpi.h>'
  echo '#include <stdio.h>'
  # Tagged enums and the status are checked below; all other types may be declared again.
  tail -n +2 "$types" | grep -v -e '^enum' -e '^struct {' | sed 's/^/typedef /; s/$/;/'
  tail -n +2 "$functions" | awk -F'\t' '{print $2, $1 "(" $3 ");"}'
  cat <<'C'
_Static_assert(sizeof(MPI_Status) == 32, "status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0, "status");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == 4, "status");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == 8, "status");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8, "sizes");
static int failures;
static void Same(const char* name, long long value, long long expected) {
  if (value == expected) return;
  printf("%s is %lld in mpi.h, %lld in the ABI\n", name, value, expected);
  ++failures;
}
int main(void) {
C
  # The value of a handle or of any other constant, as an integer; a name stands for another constant.
  tail -n +2 "$constants" | awk -F'\t' '$2 != "alias" {
    printf "  Same(\"%s\", (long long)(intptr_t)(%s), (long long)(intptr_t)(%s));\n", $1, $1, $3 }'
  echo '  return failures != 0;'
  echo '}'
} >"$directory/abi.c"

status=0
gcc -std=c17 -Wall -Wextra -Werror -I"$include" -c -o "$directory/abi.o" "$directory/abi.c" || exit 1
# Nothing of the library is called, so none is needed.
gcc -o "$directory/abi" "$directory/abi.o" || exit 1
"$directory/abi" || status=1
checks=$(grep -c '^  Same' "$directory/abi.c")
[ "$checks" -gt 300 ] || { echo "only $checks constants were compared"; status=1; }

cat >"$directory/use.c" <<'C'
#include <mpi.h>
int main(void) {
  MPI_Status status;
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  MPI_Status_c2f(&status, fortran);
  return MPI_Comm_c2f(MPI_COMM_WORLD) + (MPI_INT == MPI_DATATYPE_NULL);
}
C
cp "$directory/use.c" "$directory/use.cc"
compile() {  # COMPILER STANDARD FILE
  command -v "$1" >/dev/null || return 0
  "$1" -std="$2" -Wall -Wextra -pedantic -Werror -I"$include" -fsyntax-only "$3" && return 0
  echo "mpi.h does not compile cleanly with $1 -std=$2"
  status=1
}
for compiler in gcc clang; do
  for standard in c90 c99 c11 c17; do compile $compiler $standard "$directory/use.c"; done
done
for compiler in g++ clang++; do
  for standard in c++98 c++11 c++14 c++17 c++20; do compile $compiler $standard "$directory/use.cc"; done
done
exit $status
