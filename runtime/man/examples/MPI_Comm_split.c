// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Even ranks get one communicator, odd ranks another one.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, own_rank;
  MPI_Comm half;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &own_rank);
  printf("rank %d is rank %d of its half\n", rank, own_rank);
  MPI_Comm_free(&half);
  return MPI_Finalize();
}
