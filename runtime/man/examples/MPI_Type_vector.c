// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Rank 0 sends a column of a matrix. Run it with two processes.
int main(int argc, char** argv) {
  enum { kRows = 4, kColumns = 6 };
  MPI_Init(&argc, &argv);
  int rank;
  double matrix[kRows][kColumns] = {{0}};
  MPI_Datatype column;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (rank == 0) MPI_Send(&matrix[0][2], 1, column, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&matrix[0][3], 1, column, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
  return MPI_Finalize();
}
