/* SPDX-License-Identifier: BSD-3-Clause
 * Programs of test/mpi/datatype say with this what a call must fail with, and which bounds a type
 * must have.
 */
#ifndef LAMINA_TEST_MPI_DATATYPE_EXPECT_H
#define LAMINA_TEST_MPI_DATATYPE_EXPECT_H

#include "test/mpi/check.h"

/* Makes errors return, whatever object they are raised on. */
static inline void ReturnErrors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline void ExpectClass(int code, int expected, int line, const char* call) {
  const int got = code == MPI_SUCCESS ? MPI_SUCCESS : ClassOf(code);
  if (got == expected) return;
  ++failures;
  fprintf(stderr, "line %d: error class %d, expected %d: %s\n", line, got, expected, call);
}
#define FAILS(expected, call) ExpectClass(call, expected, __LINE__, #call)
#define WORKS(call) ExpectClass(call, MPI_SUCCESS, __LINE__, #call)

static inline void ExpectBounds(MPI_Datatype type, long long size, long long lower,
                                long long extent, long long true_lower, long long true_extent,
                                int line) {
  int got_size;
  MPI_Aint got_lower, got_extent, got_true_lower, got_true_extent;
  MPI_Type_size(type, &got_size);
  MPI_Type_get_extent(type, &got_lower, &got_extent);
  MPI_Type_get_true_extent(type, &got_true_lower, &got_true_extent);
  if (got_size == size && got_lower == lower && got_extent == extent &&
      got_true_lower == true_lower && got_true_extent == true_extent)
    return;
  ++failures;
  fprintf(stderr, "line %d: size %d, bounds %ld + %ld, true bounds %ld + %ld\n", line, got_size,
          (long)got_lower, (long)got_extent, (long)got_true_lower, (long)got_true_extent);
}
#define BOUNDS(type, size, lower, extent, true_lower, true_extent) \
  ExpectBounds(type, size, lower, extent, true_lower, true_extent, __LINE__)

#endif
