// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  FILE* input = fopen("input", "r");
  if (input == NULL) {
    perror("input");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  fclose(input);
  return MPI_Finalize();
}
