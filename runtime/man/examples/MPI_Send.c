// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Run it with two processes.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  double values[3] = {1, 2, 3};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(values, 3, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(values, 3, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
