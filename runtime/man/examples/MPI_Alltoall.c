// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Row i of a matrix is on rank i; afterwards column i is.
int main(int argc, char** argv) {
  enum { kMost = 64 };
  MPI_Init(&argc, &argv);
  int rank, size, row[kMost], column[kMost];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMost) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < size; ++i) row[i] = 100 * rank + i;
  MPI_Alltoall(row, 1, MPI_INT, column, 1, MPI_INT, MPI_COMM_WORLD);
  return MPI_Finalize();
}
