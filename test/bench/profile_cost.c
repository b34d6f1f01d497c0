/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a call of MPI takes, in ns, the best of some rounds: of one that does next to
 * nothing, and of a message of 8 bytes from one rank to the other. */
#include <mpi.h>
#include <stdio.h>

enum { kRounds = 100, kCalls = 10000, kMessages = 200 };

static double ask(void) {
  int rank;
  const double began = MPI_Wtime();
  for (int i = 0; i < kCalls; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return (MPI_Wtime() - began) * 1e9 / kCalls;
}

/* A message there and back is two calls of each rank. */
static double exchange(int rank) {
  double word = 0;
  const double began = MPI_Wtime();
  for (int i = 0; i < kMessages; ++i) {
    if (rank == 0) MPI_Send(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  return (MPI_Wtime() - began) * 1e9 / (2 * kMessages);
}

int main(int argc, char** argv) {
  int rank, size;
  double best_call = 1e9, best_message = 1e9;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < kRounds; ++round) {
    const double call = ask();
    if (call < best_call) best_call = call;
    if (size != 2) continue;
    const double message = exchange(rank);
    if (message < best_message) best_message = message;
  }
  if (rank == 0) printf("%.1f %.1f\n", best_call, best_message);
  MPI_Finalize();
  return 0;
}
