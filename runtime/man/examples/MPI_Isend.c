// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Each process sends its rank to the next one on a ring.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, left;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(&left, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
