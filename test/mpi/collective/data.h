/* SPDX-License-Identifier: BSD-3-Clause
 * Data whose every integer says where it came from, in two layouts of the same signature: plain
 * integers, and a derived type of two integers with holes in between and behind.
 *
 *   plain     k = 0 1 2 3 ...
 *   spread    k = 0 . 1 . 2 . 3 . ...      (extent of 4 integers for every 2)
 */
#ifndef LAMINA_TEST_MPI_COLLECTIVE_DATA_H
#define LAMINA_TEST_MPI_COLLECTIVE_DATA_H

#include <mpi.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum Layout { kPlain, kSpread, kLayouts };
enum { kHole = -7777 };

static MPI_Datatype spread_type;

static inline void MakeTypes(void) {
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 4 * (MPI_Aint)sizeof(int), &spread_type);
  MPI_Type_commit(&spread_type);
  MPI_Type_free(&vector);
}

static inline MPI_Datatype TypeOf(enum Layout layout) {
  return layout == kPlain ? MPI_INT : spread_type;
}
/* Returns how many elements hold `integers`, which is even. */
static inline int CountOf(enum Layout layout, int integers) {
  return layout == kPlain ? integers : integers / 2;
}
/* Returns where integer k lies, counted in integers. */
static inline size_t At(enum Layout layout, size_t k) {
  return layout == kPlain ? k : k / 2 * 4 + k % 2 * 2;
}

/* Makes a buffer for `integers` and fills it with the mark of holes. */
static inline int* NewBuffer(enum Layout layout, size_t integers) {
  size_t words = layout == kPlain ? integers : integers * 2, i;
  int* buffer = malloc((words + 4) * sizeof(int));
  for (i = 0; i < words + 4; ++i) buffer[i] = kHole;
  return buffer;
}

/* Returns what `from` has for `to` at place k. */
static inline int Datum(int from, int to, int k) { return from * 1000003 + to * 1009 + k * 7 + 1; }

static inline void Fill(int* buffer, enum Layout layout, size_t first, int count, int from,
                        int to) {
  int k;
  for (k = 0; k < count; ++k) buffer[At(layout, first + (size_t)k)] = Datum(from, to, k);
}

/* Counts the differences and prints the first one. */
static inline void CheckFilled(const char* what, const int* buffer, enum Layout layout,
                               size_t first, int count, int from, int to) {
  int k;
  for (k = 0; k < count; ++k) {
    int found = buffer[At(layout, first + (size_t)k)];
    if (found == Datum(from, to, k)) continue;
    ++failures;
    fprintf(stderr, "%s: integer %d of the block from %d to %d is %d, not %d\n", what, k, from, to,
            found, Datum(from, to, k));
    return;
  }
}

static inline void CheckHole(const char* what, const int* buffer, enum Layout layout, size_t first,
                             int count) {
  int k;
  for (k = 0; k < count; ++k) {
    if (buffer[At(layout, first + (size_t)k)] == kHole) continue;
    ++failures;
    fprintf(stderr, "%s: integer %zu was written\n", what, first + (size_t)k);
    return;
  }
}

/* Checks that the holes inside the elements were not touched. */
static inline void CheckHoles(const char* what, const int* buffer, enum Layout layout,
                              size_t integers) {
  size_t k;
  if (layout == kPlain) return;
  for (k = 0; k < integers; ++k) {
    if (buffer[At(layout, k) + 1] == kHole) continue;
    ++failures;
    fprintf(stderr, "%s: the hole behind integer %zu was written\n", what, k);
    return;
  }
}

#endif
