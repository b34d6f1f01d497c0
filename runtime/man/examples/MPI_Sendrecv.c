// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Everybody passes a value on to the right and gets one from the left.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, got;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  printf("rank %d got %d\n", rank, got);
  return MPI_Finalize();
}
