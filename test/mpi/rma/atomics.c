/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   no update is lost and no lock is held twice (MPI-5.0, sections 12.3.4, 12.5.3, 12.7.2):
 *         accumulates of every operation and basic type, fetches, swaps, and locks, from all ranks
 *         at once; accumulates of one rank keep their order.
 * Method: sums that are known beforehand, counters that must not repeat, and a critical section
 *         that two ranks would spoil.
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kTimes = 200, kLong = 20000 };

static int rank, ranks, owned; /* owned: the memory of windows is the test's own */

/* A window whose memory is allocated here or by MPI. */
static MPI_Win Make(MPI_Aint bytes, void* memory) {
  MPI_Win win;
  void* base = NULL;
  if (owned) {
    base = malloc((size_t)bytes);
    MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  }
  memset(base, 0, (size_t)bytes);
  memcpy(memory, &base, sizeof base);
  MPI_Barrier(MPI_COMM_WORLD);
  return win;
}

static void Free(MPI_Win* win, void* base) {
  MPI_Win_free(win);
  if (owned) free(base);
}

static void Counter(void) {
  long *counter, one = 1, last = -1, got = -1, *seen = calloc((size_t)ranks * kTimes, sizeof *seen);
  MPI_Win win = Make(sizeof *counter, &counter);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kTimes; ++i) {
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    EXPECT(got > last && got < ranks * kTimes);
    last = got;
    ++seen[got];
  }
  MPI_Win_unlock_all(win);
  MPI_Allreduce(MPI_IN_PLACE, seen, ranks * kTimes, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * kTimes; ++i) EXPECT(seen[i] == 1);
  Free(&win, counter);
  free(seen);
}

/* Each rank adds by trying to swap, and all add to all. */
static void Swapping(void) {
  int *cell, old, next, got;
  MPI_Win win = Make(sizeof *cell, &cell);
  for (int target = 0; target < ranks; ++target) {
    for (int i = 0; i < kTimes / 4; ++i) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      for (old = 0;; old = got) {
        next = old + 1;
        MPI_Compare_and_swap(&next, &old, &got, MPI_INT, target, 0, win);
        MPI_Win_flush(target, win);
        if (got == old) break;
      }
      MPI_Win_unlock(target, win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT(*cell == ranks * (kTimes / 4));
  MPI_Win_unlock(rank, win);
  Free(&win, cell);
}

/* A read and a write under an exclusive lock, while others hold it shared or lock all. */
static void Critical(void) {
  int *cell, value[2];
  MPI_Win win = Make(2 * sizeof *cell, &cell);
  for (int i = 0; i < kTimes / 2; ++i) {
    const int target = i % ranks;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(value, 2, MPI_INT, target, 0, 2, MPI_INT, win);
    MPI_Win_flush(target, win);
    EXPECT(value[0] == value[1]);
    ++value[0];
    MPI_Put(&value[0], 1, MPI_INT, target, 0, 1, MPI_INT, win);
    MPI_Win_flush(target, win);
    MPI_Put(&value[0], 1, MPI_INT, target, sizeof(int), 1, MPI_INT, win);
    MPI_Win_unlock(target, win);
    if (i % 2 == 0) {
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
      MPI_Get(value, 2, MPI_INT, target, 0, 2, MPI_INT, win);
      MPI_Win_unlock(target, win);
    } else {
      MPI_Win_lock_all(0, win);
      MPI_Get(value, 2, MPI_INT, target, 0, 2, MPI_INT, win);
      MPI_Win_unlock_all(win);
    }
    EXPECT(value[0] == value[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0, all = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  sum = cell[0];
  MPI_Win_unlock(rank, win);
  MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all == ranks * (kTimes / 2));
  Free(&win, cell);
}

/* Locks of several targets at once, taken in the same order by all, among locks of all targets,
 * whose order is nobody's business. */
static void Nested(int down) {
  int* cell;
  const int one = 1;
  MPI_Win win = Make(sizeof *cell, &cell);
  for (int i = 0; i < kTimes / 4; ++i) {
    if ((i + rank) % 3 == 0) {
      MPI_Win_lock_all(0, win);
      for (int target = 0; target < ranks; ++target)
        MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_unlock_all(win);
      continue;
    }
    for (int k = 0; k < ranks; ++k) {
      const int target = down ? ranks - 1 - k : k;
      MPI_Win_lock(target % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
    }
    for (int target = 0; target < ranks; ++target)
      MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
    for (int target = ranks - 1; target >= 0; --target) MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT(*cell == ranks * (kTimes / 4));
  MPI_Win_unlock(rank, win);
  Free(&win, cell);
}

/* Long vectors from all ranks; some go to odd addresses and have gaps. */
static void Vectors(void) {
  double *sums, *data = malloc(kLong * sizeof *data);
  char* bytes;
  MPI_Win win = Make(2 * kLong * sizeof *sums + 1, &sums);
  bytes = (char*)sums;
  MPI_Datatype every_second;
  MPI_Type_vector(kLong / 2, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < kLong; ++i) data[i] = i;
  MPI_Win_fence(0, win);
  for (int target = 0; target < ranks; ++target) {
    MPI_Accumulate(data, kLong, MPI_DOUBLE, target, 0, kLong, MPI_DOUBLE, MPI_SUM, win);
    MPI_Accumulate(data, 1, every_second, target, 8 * kLong + 1, 1, every_second, MPI_SUM, win);
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < kLong; ++i) EXPECT(sums[i] == ranks * (double)i);
  for (int i = 0; i < kLong - 1; ++i) {
    double value;
    memcpy(&value, bytes + 8 * kLong + 1 + 8 * i, sizeof value);
    EXPECT(value == (i % 2 == 0 ? ranks * (double)i : 0));
  }
  MPI_Win_fence(0, win);
  MPI_Type_free(&every_second);
  Free(&win, sums);
  free(data);
}

/* Replacements and sums of one rank come in the order in which they were made. */
static void Order(void) {
  int *cells, got = 0;
  MPI_Win win = Make((MPI_Aint)ranks * 4, &cells);
  const int target = (rank + 1) % ranks;
  const MPI_Aint at = rank * (MPI_Aint)4;
  MPI_Win_lock_all(0, win);
  for (int i = 1; i <= kTimes; ++i) {
    const int zero = 0, value = i;
    MPI_Accumulate(&zero, 1, MPI_INT, target, at, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Accumulate(&value, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, target, at, MPI_NO_OP, win);
    MPI_Win_flush(target, win);
    EXPECT(got == i);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  Free(&win, cells);
}

#define INTEGER(type, name)                                                               \
  do {                                                                                    \
    type *cells, three = 3, one = 1, old[12];                                             \
    MPI_Win win = Make(12 * sizeof *cells, &cells);                                       \
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN,  MPI_BAND, MPI_BOR,        \
                          MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP}; \
    for (int i = 0; i < 12; ++i) cells[i] = (type)(i == 5 ? 4 : 1);                       \
    MPI_Win_fence(0, win);                                                                \
    if (rank == ranks - 1)                                                                \
      for (int i = 0; i < 12; ++i)                                                        \
        for (int target = 0; target < ranks; ++target)                                    \
          MPI_Get_accumulate(i == 7 ? &one : &three, 1, name, &old[i], 1, name, target,   \
                             i * (MPI_Aint)sizeof *cells, 1, name, ops[i], win);          \
    MPI_Win_fence(0, win);                                                                \
    const int wanted[] = {4, 3, 3, 1, 1, 7, 2, 1, 1, 0, 3, 1};                            \
    if (rank == ranks - 1)                                                                \
      for (int i = 0; i < 12; ++i) EXPECT(old[i] == (type)(i == 5 ? 4 : 1));              \
    for (int i = 0; i < 12; ++i) EXPECT(cells[i] == (type)wanted[i]);                     \
    MPI_Win_fence(0, win);                                                                \
    Free(&win, cells);                                                                    \
  } while (0)

#define NUMBER(type, name)                                                        \
  do {                                                                            \
    type *cells, value = (type)1.5, old = 0;                                      \
    MPI_Win win = Make(2 * sizeof *cells, &cells);                                \
    cells[0] = cells[1] = 2;                                                      \
    MPI_Win_fence(0, win);                                                        \
    MPI_Accumulate(&value, 1, name, (rank + 1) % ranks, 0, 1, name, MPI_SUM, win); \
    MPI_Get_accumulate(&value, 1, name, &old, 1, name, (rank + 1) % ranks,        \
                       sizeof *cells, 1, name, MPI_PROD, win);                    \
    MPI_Win_fence(0, win);                                                        \
    EXPECT(cells[0] == (type)3.5 && cells[1] == 3 && old == 2);                   \
    MPI_Win_fence(0, win);                                                        \
    Free(&win, cells);                                                            \
  } while (0)

/* A pair is one element; its hole is nobody's business. */
static void Pairs(void) {
  struct {
    short value;
    int place;
  } *cells, mine[2], old[2];
  MPI_Win win = Make(2 * sizeof *cells, &cells);
  memset(cells, 0x55, 2 * sizeof *cells);
  memset(mine, 0x33, sizeof mine);
  for (int i = 0; i < 2; ++i) cells[i].value = 0, cells[i].place = -1;
  for (int i = 0; i < 2; ++i) mine[i].value = (short)(i == 0 ? rank + 1 : -1), mine[i].place = rank;
  MPI_Win_fence(0, win);
  for (int target = 0; target < ranks; ++target)
    MPI_Get_accumulate(mine, 2, MPI_SHORT_INT, old, 2, MPI_SHORT_INT, target, 0, 2, MPI_SHORT_INT,
                       MPI_MAXLOC, win);
  MPI_Win_fence(0, win);
  EXPECT(cells[0].value == ranks && cells[0].place == ranks - 1);
  EXPECT(cells[1].value == 0 && cells[1].place == -1);
  EXPECT(((unsigned char*)cells)[2] == 0x55 && ((unsigned char*)cells)[3] == 0x55);
  MPI_Win_fence(0, win);
  Free(&win, cells);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (owned = 0; owned < 2; ++owned) {
    Counter();
    Swapping();
    Critical();
    Nested(0);
    Nested(1);
    Vectors();
    Order();
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(uint64_t, MPI_UINT64_T);
    NUMBER(float, MPI_FLOAT);
    NUMBER(double, MPI_DOUBLE);
    NUMBER(long double, MPI_LONG_DOUBLE);
    NUMBER(double _Complex, MPI_C_DOUBLE_COMPLEX);
    Pairs();
  }
  return Passed();
}
