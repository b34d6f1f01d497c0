// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Everybody finds out where its share begins in the whole.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, first = 0;  // nothing is written at rank 0
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int share = rank + 5;
  MPI_Exscan(&share, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d has %d to %d\n", rank, first, first + share - 1);
  return MPI_Finalize();
}
