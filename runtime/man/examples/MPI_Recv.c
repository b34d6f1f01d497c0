// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Rank 0 takes one message of everybody else, in the order in which they come.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < size; ++i) {
    int value;
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    printf("%d came from rank %d\n", value, status.MPI_SOURCE);
  }
  return MPI_Finalize();
}
