// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Everybody learns on which machine the others run.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, length;
  char mine[MPI_MAX_PROCESSOR_NAME] = "";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(mine, &length);
  char(*all)[MPI_MAX_PROCESSOR_NAME] = malloc((size_t)size * sizeof *all);
  MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("rank %d is on %s\n", i, all[i]);
  free(all);
  return MPI_Finalize();
}
