// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// The numbers 0 to 99 are divided among the processes.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = 100 * rank / size, last = 100 * (rank + 1) / size - 1;
  printf("rank %d has the numbers %d to %d\n", rank, first, last);
  return MPI_Finalize();
}
