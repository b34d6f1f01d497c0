// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdlib.h>

// Rank 0 deals out ten numbers to each process.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  double part[10], *all = NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) all = calloc((size_t)size, sizeof part);
  MPI_Scatter(all, 10, MPI_DOUBLE, part, 10, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  free(all);
  return MPI_Finalize();
}
