/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds memory on every rank, and is saved meanwhile by `checkpoint`.
 *
 * usage: resident WAY MEGABYTES [TURNS]
 *        WAY: waiting (in a receive), computing (outside of MPI), or turns: each writes to every
 *             page, meets the other ranks and is said. They end after TURNS, or never. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kPageBytes = 4096 };

char* memory; /* nobody knows who reads it, so it is really written */

int main(int argc, char** argv) {
  int rank, nothing;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const size_t bytes = (size_t)atol(argv[2]) << 20;
  const long turns = argc > 3 ? atol(argv[3]) : -1;
  memory = malloc(bytes + 1);
  if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(memory, rank + 1, bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("turn\n"), fflush(stdout);
  if (strcmp(argv[1], "waiting") == 0)
    MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (strcmp(argv[1], "computing") == 0 && time(NULL) > 0) continue;
  for (long turn = 0; turn != turns; ++turn) {
    for (size_t at = 0; at < bytes; at += kPageBytes) ++memory[at];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("turn\n"), fflush(stdout);
  }
  free(memory);
  return MPI_Finalize();
}
