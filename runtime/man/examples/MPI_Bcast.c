// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdlib.h>

// Rank 0 knows how many steps there are and tells the others.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, steps = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) steps = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
