// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double start = MPI_Wtime();
  MPI_Barrier(MPI_COMM_WORLD);
  printf("the barrier took %g seconds\n", MPI_Wtime() - start);
  return MPI_Finalize();
}
