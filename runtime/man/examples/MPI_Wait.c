// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, answer = 42;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Ibcast(&answer, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  // Work that does not need the answer goes here.
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d has %d\n", rank, answer);
  return MPI_Finalize();
}
