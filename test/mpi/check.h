/* SPDX-License-Identifier: BSD-3-Clause
 * Programs of test/mpi include this: EXPECT prints where and on which rank something did not hold;
 * Passed() ends the program and gives its exit status.
 */
#ifndef LAMINA_TEST_MPI_CHECK_H
#define LAMINA_TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static inline void Expect(int holds, const char* file, int line, const char* expression) {
  int rank = -1;
  if (holds) return;
  ++failures;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "%s:%d: rank %d: does not hold: %s\n", file, line, rank, expression);
}
#define EXPECT(expression) Expect((expression) ? 1 : 0, __FILE__, __LINE__, #expression)

/* Returns the class of the error that `call` returned. */
static inline int ClassOf(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}

static inline int Passed(void) {
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}

#endif
