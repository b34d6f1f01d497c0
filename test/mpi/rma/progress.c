/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   on one node nobody needs the target: locks, accesses and fetches of its memory end while
 *         it computes and calls nothing of MPI (MPI-5.0, section 12.7.3).
 * Method: the target spins on memory of its own until another rank has put there, under a lock,
 *         that all of its accesses are done. If they needed the target, nobody would go on.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static void Play(MPI_Win win, atomic_int* cells, int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    while (atomic_load(&cells[1]) != 77) {
    }
    EXPECT(atomic_load(&cells[0]) == 5 && atomic_load(&cells[2]) == 4);
  } else if (rank == 1) {
    int value = 5, one = 1, got = -1, done = 77;
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 4; ++i) {
      MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 8, MPI_SUM, win);
      MPI_Win_flush(0, win);
      EXPECT(got == i);
    }
    MPI_Rget(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got == 5);
    MPI_Accumulate(&done, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_unlock_all(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  atomic_int* cells;
  MPI_Win win;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win_allocate(12, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
  for (int i = 0; i < 3; ++i) atomic_init(&cells[i], 0);
  Play(win, cells, rank);
  MPI_Win_free(&win);
  cells = calloc(3, sizeof *cells);
  MPI_Win_create(cells, 12, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  Play(win, cells, rank);
  MPI_Win_free(&win);
  free(cells);
  return Passed();
}
