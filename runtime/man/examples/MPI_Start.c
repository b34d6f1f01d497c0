// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// The same message goes round a ring a hundred times.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, out, in;
  MPI_Request requests[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out = rank;
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
  for (int step = 0; step < 100; ++step) {
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    out = in;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  return MPI_Finalize();
}
