// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

// Rank 1 does not know how long the message will be. Run it with two processes.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send("good morning", 13, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Status status;
    int length;
    MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_CHAR, &length);
    char* text = malloc((size_t)length);
    MPI_Recv(text, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts(text);
    free(text);
  }
  return MPI_Finalize();
}
