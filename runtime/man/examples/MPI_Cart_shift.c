// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// A shift along a line: at its ends there is nobody, and nothing special to do.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, rank, below, above, periodic = 0, from_below = -1;
  MPI_Comm line;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &line);
  MPI_Comm_rank(line, &rank);
  MPI_Cart_shift(line, 0, 1, &below, &above);
  MPI_Sendrecv(&rank, 1, MPI_INT, above, 0, &from_below, 1, MPI_INT, below, 0, line,
               MPI_STATUS_IGNORE);
  MPI_Comm_free(&line);
  return MPI_Finalize();
}
