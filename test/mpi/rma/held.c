/* SPDX-License-Identifier: BSD-3-Clause
 * Rank 1 holds a lock of rank 0 until there is a line or the end on standard input, which rank 0
 * reads. Meanwhile rank 2 waits for an exclusive lock of rank 0, and rank 3 for lock_all if rank 1
 * has an exclusive lock. held_test.py runs this.
 *
 * usage: held (exclusive | shared)
 */
#include "test/mpi/check.h"

static int rank, exclusive;
static MPI_Win win;

static void Tell(int to) { MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD); }
static void Hear(int from) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void Hold(void) {
  const int type = exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
  const int one = 1;
  MPI_Win_lock(type, 0, 0, win);
  MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_flush(0, win);
  for (int i = 2; i < 4; ++i) Tell(i);
  Hear(0);
  MPI_Win_unlock(0, win);
}

static void Lock(void) {
  Hear(1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Win_unlock(0, win);
}

static void LockAll(void) {
  Hear(1);
  if (!exclusive) return;
  MPI_Win_lock_all(0, win);
  MPI_Win_unlock_all(win);
}

int main(int argc, char** argv) {
  int* cell;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exclusive = argc > 1 && strcmp(argv[1], "exclusive") == 0;
  MPI_Win_allocate(sizeof *cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
  if (rank == 0) {
    (void)getchar();
    Tell(1);
  }
  if (rank == 1) Hold();
  if (rank == 2) Lock();
  if (rank == 3) LockAll();
  MPI_Win_free(&win);
  return Passed();
}
