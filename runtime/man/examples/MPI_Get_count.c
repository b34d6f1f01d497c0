// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// There is room for more than comes. Run it with two processes.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, count;
  double values[100] = {0};
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(values, 60, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(values, 100, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    printf("%d values came\n", count);
  }
  return MPI_Finalize();
}
