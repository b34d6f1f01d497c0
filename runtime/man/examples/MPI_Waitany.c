// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Rank 0 works on what comes first.
int main(int argc, char** argv) {
  enum { kMost = 64 };
  MPI_Init(&argc, &argv);
  int rank, size, values[kMost];
  MPI_Request requests[kMost];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int workers = size - 1 < kMost ? size - 1 : kMost;
  if (rank > 0 && rank <= workers) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < workers; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; rank == 0 && i < workers; ++i) {
    int which;
    MPI_Waitany(workers, requests, &which, MPI_STATUS_IGNORE);
    printf("rank %d is done\n", values[which]);
  }
  return MPI_Finalize();
}
