// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// The receive is posted before the work, so that the message has a place to go.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, left;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Irecv(&left, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
  int mine = rank * rank;  // the work
  MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
