// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Each process exchanges its rank with both neighbours on a ring.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, from[2];
  MPI_Request requests[4];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int neighbours[2] = {(rank + size - 1) % size, (rank + 1) % size};
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&from[i], 1, MPI_INT, neighbours[i], i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(&rank, 1, MPI_INT, neighbours[i], 1 - i, MPI_COMM_WORLD, &requests[2 + i]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  return MPI_Finalize();
}
