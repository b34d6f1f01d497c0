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
static void add(void *in, void *out, int *count, MPI_Datatype *type) {
  int i;
  for (i = 0; i < *count && *type == MPI_INT; ++i) ((int *)out)[i] += ((int *)in)[i];
}
static int forget(MPI_Comm comm, int key, void *value, void *extra) {
  return comm == MPI_COMM_NULL || key == MPI_KEYVAL_INVALID || value == extra;
}
static void heard(MPI_T_event_instance instance, MPI_T_event_registration registration,
                  MPI_T_cb_safety safety, void *data) {
  if (instance != 0 && registration != 0 && safety == MPI_T_CB_REQUIRE_NONE) *(int *)data = 1;
}
static void failed(MPI_Comm *comm, int *code, ...) { *code += *comm == MPI_COMM_WORLD; }
int main(int argc, char **argv) {
  int rank, key, here = 1, all = 0, level = MPI_THREAD_MULTIPLE;
  MPI_Op op;
  MPI_Comm twin;
  MPI_Errhandler handler, old;
  MPI_Request requests[2];
  MPI_Status statuses[2], status;
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  MPI_Count large = 1;
  MPI_Aint place;
  MPI_Offset offset = MPI_DISPLACEMENT_CURRENT;
  MPI_User_function *function = add;
  MPI_T_event_cb_function *event = heard;
  MPI_Init_thread(&argc, &argv, level, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, MPI_BOTTOM);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Op_create(function, 1, &op);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Isend(&here, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv_c(&all, large, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Status_c2f(&statuses[0], fortran);
  MPI_Status_f2c(fortran, &status);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &twin);
  MPI_Comm_create_errhandler(failed, &handler);
  MPI_Errhandler_create(failed, &handler);
  MPI_Errhandler_get(twin, &old);
  MPI_Address(&here, &place);
  if (event == NULL || offset > 0) MPI_Abort(twin, MPI_ERR_OTHER);
  MPI_Finalize();
  return MPI_Comm_c2f(MPI_COMM_WORLD) + (MPI_INT == MPI_DATATYPE_NULL) + status.MPI_TAG;
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
  for standard in c90 c99 c11 c17 c2x; do compile $compiler $standard "$directory/use.c"; done
done
# A C++ program that warns of casts as C writes them may use every constant.
{
  echo '#include <mpi.h>'
  echo 'void UseAll() {'
  tail -n +2 "$constants" | awk -F'\t' '$2 != "alias" { printf "  static_cast<void>(%s);\n", $1 }'
  echo '}'
} >"$directory/all.cc"
for standard in c++98 c++11 c++17 c++20; do
  g++ -std=$standard -Wall -Wextra -Wold-style-cast -Wzero-as-null-pointer-constant -Wuseless-cast \
    -Werror -I"$include" -fsyntax-only "$directory/all.cc" && continue
  echo "g++ -std=$standard warns of constants of mpi.h"
  status=1
done
for compiler in g++ clang++; do
  for standard in c++98 c++03 c++11 c++14 c++17 c++20 c++2b; do compile $compiler $standard "$directory/use.cc"; done
done
exit $status
