// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// Rank 99999 does not exist, and the program goes on.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int error = MPI_Send(NULL, 0, MPI_INT, 99999, 0, MPI_COMM_WORLD);
  if (error != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    printf("%s\n", text);
  }
  return MPI_Finalize();
}
