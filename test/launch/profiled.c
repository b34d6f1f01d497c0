/* SPDX-License-Identifier: BSD-3-Clause */
/* Spends its time in ways that are known beforehand, for profile_test.py and trace_test.py.
 *
 * usage: profiled late|imbalance|ring|collectives|many|killed|stuck */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a processor busy for so long by the clock. */
static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) continue;
}

/* Rank 0 sends 400 ms after both have met. */
static void send_late(int rank) {
  double word = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    compute(0.4);
    MPI_Send(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Rank 1 computes twice as long as rank 0. */
static void share_badly(int rank) {
  MPI_Barrier(MPI_COMM_WORLD);
  compute(rank == 1 ? 0.6 : 0.3);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank sends ten messages of a thousand bytes a step to the next one. */
static void pass_round(int rank, int size) {
  char out[1000] = {0};
  char in[1000];
  for (int i = 0; i < 10; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void call_collectives(int size) {
  double in[16] = {0};
  double out[16];
  double* many = calloc(2 * (size_t)size, sizeof *many);
  MPI_Bcast(in, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(many, 1, MPI_DOUBLE, many + size, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  free(many);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "late") == 0) send_late(rank);
  if (strcmp(what, "imbalance") == 0) share_badly(rank);
  if (strcmp(what, "ring") == 0) pass_round(rank, size);
  if (strcmp(what, "collectives") == 0) call_collectives(size);
  if (strcmp(what, "many") == 0)
    for (int i = 0; i < 10000000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "killed") == 0 && rank == 1) raise(SIGKILL);
  if (strcmp(what, "killed") == 0 || strcmp(what, "stuck") == 0)
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
