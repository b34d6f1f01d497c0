// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is there\n", rank);
  return MPI_Finalize();
}
