// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Rank i has i + 1 numbers. Rank 0 asks how many everybody has, and then collects them.
int main(int argc, char** argv) {
  enum { kMost = 64 };
  MPI_Init(&argc, &argv);
  int rank, size, counts[kMost], places[kMost], mine[kMost], all[kMost * kMost];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int count = rank + 1;
  for (int i = 0; i < count; ++i) mine[i] = rank;
  MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
  places[0] = 0;
  for (int i = 1; rank == 0 && i < size; ++i) places[i] = places[i - 1] + counts[i - 1];
  MPI_Gatherv(mine, count, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
