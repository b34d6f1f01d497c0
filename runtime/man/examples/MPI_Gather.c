// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Rank 0 collects one number of each process.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int square = rank * rank;
  int* all = rank == 0 ? malloc((size_t)size * sizeof *all) : NULL;
  MPI_Gather(&square, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("%d\n", all[i]);
  free(all);
  return MPI_Finalize();
}
