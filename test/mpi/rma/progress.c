/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   nobody needs the target's help: locks, accesses and fetches of its memory end while it
 *         computes and calls nothing of MPI (MPI-5.0, section 12.7.3). On one node they take no
 *         longer than if it called MPI all the time; elsewhere a thread of it has to wake first.
 * Method: the target spins on memory of its own until another rank has put there, under a lock,
 *         that all of its accesses are done. If they needed the target, nobody would go on, so that
 *         this stands for a computation of any length. The fastest of several rounds has to be
 *         within a limit, so that other load does no harm: 100 us on one node, 50 ms across hosts.
 *
 * usage: progress [LIMIT_US]
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kRounds = 20 };

static double limit_s;
static int has_origin; /* one rank alone has nobody to serve */

static double LockPutUnlock(MPI_Win win) {
  const int value = 5;
  const double began = MPI_Wtime();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  return MPI_Wtime() - began;
}

static double FetchAndOp(MPI_Win win, int expected) {
  int one = 1, got = -1;
  const double began = MPI_Wtime();
  MPI_Fetch_and_op(&one, &got, MPI_INT, 0, 8, MPI_SUM, win);
  MPI_Win_flush(0, win);
  const double took = MPI_Wtime() - began;
  EXPECT(got == expected);
  return took;
}

static void Origin(MPI_Win win) {
  double best_put = 1e9, best_fetch = 1e9;
  int got = -1, done = 77;
  MPI_Request request;
  for (int i = 0; i < kRounds; ++i) {
    const double took = LockPutUnlock(win);
    if (took < best_put) best_put = took;
  }
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kRounds; ++i) {
    const double took = FetchAndOp(win, i);
    if (took < best_fetch) best_fetch = took;
  }
  MPI_Rget(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(got == 5);
  MPI_Accumulate(&done, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_REPLACE, win);
  MPI_Win_unlock_all(win);
  if (best_put > limit_s || best_fetch > limit_s)
    fprintf(stderr, "lock, put, unlock took %.0f us, fetch and flush %.0f us\n", best_put * 1e6,
            best_fetch * 1e6);
  EXPECT(best_put <= limit_s && best_fetch <= limit_s);
}

static void Play(MPI_Win win, atomic_int* cells, int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && has_origin) {
    while (atomic_load(&cells[1]) != 77) {
    }
    EXPECT(atomic_load(&cells[0]) == 5 && atomic_load(&cells[2]) == kRounds);
  } else if (rank == 1) {
    Origin(win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int rank;
  atomic_int* cells;
  MPI_Win win;
  MPI_Comm node;
  int ranks, together;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &together);
  MPI_Comm_free(&node);
  has_origin = ranks > 1;
  limit_s = (argc > 1 ? atof(argv[1]) : together < ranks ? 50e3 : 100) * 1e-6;
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
