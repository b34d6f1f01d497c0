/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a rank that dies while it holds a lock ends the job; nobody waits for its lock for ever.
 * Method: the last rank kills itself with an exclusive lock in its hands, when the others are about
 *         to ask for the same lock, for another kind of it, or for all locks.
 */
#include <signal.h>

#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int rank, ranks;
  int* cell;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_allocate(sizeof *cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &win);
  if (rank == ranks - 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) raise(SIGKILL);
  if (rank % 3 == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  if (rank % 3 == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  if (rank % 3 == 2) MPI_Win_lock_all(0, win);
  fprintf(stderr, "rank %d got a lock that is held\n", rank);
  return 1;
}
