/* SPDX-License-Identifier: BSD-3-Clause
 * A number goes once around all ranks; rank 0 prints it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank > 0) MPI_Recv(&number, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++number;
  if (size > 1) MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
  if (rank == 0) {
    if (size > 1) MPI_Recv(&number, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d ranks counted\n", number);
  }
  MPI_Finalize();
  return 0;
}
