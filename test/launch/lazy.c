// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 comes late to a barrier; the others must not leave it before. Then one rank goes before
// the others are done.
//
// usage: lazy SECONDS [CODE]     CODE: rank 1's exit status, right after MPI_Finalize
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void Pause(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);  // tidy: sleep: to come late is what is wanted
}

int main(int argc, char **argv) {
  int rank, size;
  const double late = argc > 1 ? atof(argv[1]) : 0;
  const int code = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  if (rank == 0) Pause(late);
  MPI_Barrier(MPI_COMM_WORLD);
  // Some of the time may have passed while this rank was leaving the barrier before.
  if (MPI_Wtime() - began < late * 0.5) {
    fprintf(stderr, "rank %d left the barrier too early\n", rank);
    return 99;
  }
  MPI_Finalize();
  if (rank == 1) return code;
  if (rank == 0 && code != 0) Pause(1);
  if (rank == 0) printf("last words of %d ranks\n", size);
  return 0;
}
