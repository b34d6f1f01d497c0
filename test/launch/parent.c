// SPDX-License-Identifier: BSD-3-Clause
// A rank that starts a program in the middle of its own: the program fails, the rank goes on.
//
// usage: parent COMMAND
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  const int status = argc > 1 ? system(argv[1]) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  puts("went on");
  MPI_Finalize();
  return status == 0 ? 1 : 0;
}
