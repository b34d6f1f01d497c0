/* SPDX-License-Identifier: BSD-3-Clause
 * The last rank kills itself in one kind of epoch, where the others are about to need it or to wait
 * for what it holds. They go on until they cannot. killed_test.py runs this.
 *
 * usage: killed (create | fence | post | lock | shared | lock_all | flush | fetch)
 */
#include <signal.h>

#include "test/mpi/check.h"

static int rank, ranks, dies;
static int* cells;
static MPI_Win win;

static void Die(void) {
  if (dies) raise(SIGKILL);
}

static void Make(void) {
  MPI_Win_allocate(ranks * (MPI_Aint)sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &cells, &win);
}

/* The others ask for a lock of rank 0 in different ways. */
static void Ask(void) {
  if (rank % 3 == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  if (rank % 3 == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (rank % 3 == 2) MPI_Win_lock_all(0, win);
}

static void Put(int target) { MPI_Put(&rank, 1, MPI_INT, target, rank, 1, MPI_INT, win); }

static void Locks(int type) {
  if (dies) type != 0 ? MPI_Win_lock(type, 0, 0, win) : MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  if (type == MPI_LOCK_EXCLUSIVE) return Ask();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

static void Post(void) {
  MPI_Group all;
  MPI_Win_get_group(win, &all);
  MPI_Win_post(all, 0, win);
  MPI_Win_start(all, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  Put(ranks - 1);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}

static void Flush(int fetches) {
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  for (;;) {
    int got;
    if (fetches)
      MPI_Fetch_and_op(&rank, &got, MPI_INT, ranks - 1, 0, MPI_SUM, win);
    else
      Put(ranks - 1);
    MPI_Win_flush(ranks - 1, win);
    MPI_Win_flush_all(win);
  }
}

static void Fence(void) {
  MPI_Win_fence(0, win);
  Die();
  Put(ranks - 1);
  MPI_Win_fence(0, win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dies = rank == ranks - 1;
  const char* const kind = argc > 1 ? argv[1] : "";
  if (strcmp(kind, "create") == 0) Die();
  Make();
  if (strcmp(kind, "fence") == 0) Fence();
  if (strcmp(kind, "post") == 0) Post();
  if (strcmp(kind, "lock") == 0) Locks(MPI_LOCK_EXCLUSIVE);
  if (strcmp(kind, "shared") == 0) Locks(MPI_LOCK_SHARED);
  if (strcmp(kind, "lock_all") == 0) Locks(0);
  if (strcmp(kind, "flush") == 0) Flush(0);
  if (strcmp(kind, "fetch") == 0) Flush(1);
  fprintf(stderr, "rank %d went on without a rank that is gone\n", rank);
  return 1;
}
