// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int everybody_is_here = 0;
  long steps = 0;
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (!everybody_is_here) {
    ++steps;  // a piece of work
    MPI_Test(&request, &everybody_is_here, MPI_STATUS_IGNORE);
  }
  printf("%ld pieces of work were done meanwhile\n", steps);
  return MPI_Finalize();
}
