/* SPDX-License-Identifier: BSD-3-Clause
 * Programs of test/mpi/tool include this, also those that run where MPI is not initialised: HOLDS
 * prints what did not hold, Ended() gives the exit status.
 */
#ifndef LAMINA_TEST_MPI_TOOL_H
#define LAMINA_TEST_MPI_TOOL_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static inline void Holds(int holds, int line, const char* expression, const char* about) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "line %d: does not hold: %s (%s)\n", line, expression, about);
}
#define HOLDS(expression) Holds((expression) ? 1 : 0, __LINE__, #expression, "")
/* Does the same and says for which variable. */
#define HOLDS_FOR(about, expression) Holds((expression) ? 1 : 0, __LINE__, #expression, about)

static inline int Ended(void) { return failures == 0 ? 0 : 1; }

#endif
