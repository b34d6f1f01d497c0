// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdlib.h>

int main(void) {
  MPI_Init(NULL, NULL);
  int done = rand() % 2;  // each process has its own part of the work
  int all_done;
  MPI_Allreduce(&done, &all_done, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_done ? EXIT_SUCCESS : EXIT_FAILURE;
}
