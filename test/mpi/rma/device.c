/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   where a device reaches the memory of others it is used for puts and gets, and what it
 *         moves is right beside what goes by messages; it is used where parameters say so, and only
 *         there.
 * Method: every rank puts to the next one and gets from it, in one piece and in several, until its
 *         counters say that the device was used; then sums and swaps to the same memory. Memory
 * that cannot be written is reached by messages.
 *
 * usage: device (on | off)
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kCells = 20000 };

static int rank, ranks, right, left;

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

/* How often a device was used since the start. */
static unsigned long long Used(void) {
  unsigned long long value = 0;
  EXPECT(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  return value;
}

static void Count(void) {
  int index = -1, provided, elements;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  EXPECT(MPI_T_pvar_get_index("rma.device.accesses", MPI_T_PVAR_CLASS_COUNTER, &index) ==
         MPI_SUCCESS);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &elements);
  MPI_T_pvar_start(session, handle);
}

/* The first accesses go by messages, which the key of the memory comes by. */
static void Move(MPI_Win win, int* base, int uses) {
  int* data = malloc(kCells * sizeof *data);
  int* got = malloc(kCells * sizeof *got);
  const unsigned long long before = Used();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < kCells; ++i) data[i] = rank + round + i, got[i] = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    EXPECT(MPI_Put(data, kCells, MPI_INT, right, 0, kCells, MPI_INT, win) == MPI_SUCCESS);
    EXPECT(MPI_Win_flush(right, win) == MPI_SUCCESS);
    MPI_Request request;
    EXPECT(MPI_Rget(got, kCells, MPI_INT, right, 0, kCells, MPI_INT, win, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(memcmp(data, got, kCells * sizeof *data) == 0);
    EXPECT(MPI_Rput(data + 1, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request) == MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data[1] = -5; /* it may be changed now */
    EXPECT(MPI_Win_unlock(right, win) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    EXPECT(base[0] == left + round + 1 && base[kCells - 1] == left + round + kCells - 1);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const unsigned long long used = Used() - before;
  /* Only the first two can have come before the key. */
  if (uses && ranks > 1) EXPECT(used >= 3 * 20 - 3);
  if (!uses || ranks == 1) EXPECT(used == 0);
  free(data);
  free(got);
}

/* Elements with holes between them go and come by whatever way, beside sums. */
static void Mixed(MPI_Win win, int* base) {
  MPI_Datatype every_other;
  int data[100], got[100], sum = 1000, old;
  MPI_Type_vector(50, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (int i = 0; i < 100; ++i) data[i] = rank + i, got[i] = -1;
  MPI_Win_fence(0, win);
  MPI_Put(data, 1, every_other, right, 0, 50, MPI_INT, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 50; ++i) EXPECT(base[i] == left + 2 * i);
  MPI_Win_fence(0, win); /* everybody has looked */
  MPI_Put(data, 50, MPI_INT, right, 0, 1, every_other, win);
  MPI_Accumulate(&sum, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  EXPECT(base[0] == left && base[1] == left + 2 + 1000 && base[2] == left + 1);
  MPI_Get(got, 1, every_other, right, 0, 50, MPI_INT, win);
  MPI_Win_fence(0, win);
  EXPECT(got[0] == rank && got[1] == -1 && got[2] == rank + 2 + 1000 && got[4] == rank + 1);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&sum, &old, MPI_INT, right, 1, MPI_SUM, win);
  MPI_Win_flush_all(win);
  EXPECT(old == rank + 2 + 1000);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(base[1] == left + 2 + 2000);
  MPI_Type_free(&every_other);
}

int main(int argc, char** argv) {
  int* base;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int uses = argc > 1 && strcmp(argv[1], "on") == 0;
  Count();
  right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Win_allocate(kCells * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &base, &win);
  memset(base, 0, kCells * sizeof *base);
  MPI_Barrier(MPI_COMM_WORLD);
  Move(win, base, uses);
  Mixed(win, base);
  MPI_Win_free(&win);
  base = calloc(kCells, sizeof *base);
  MPI_Win_create(base, kCells * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &win);
  MPI_Barrier(MPI_COMM_WORLD);
  Move(win, base, uses);
  Mixed(win, base);
  MPI_Win_free(&win);
  free(base);
  MPI_T_pvar_handle_free(session, &handle);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return Passed();
}
