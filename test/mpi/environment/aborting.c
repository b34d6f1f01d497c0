/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_ERRORS_ABORT ends the processes of the communicator, with one message that names it
 * (MPI-5.0, section 9.3).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  MPI_Comm twin;
  int value = 0, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_name(twin, "the doomed");
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_ABORT);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1000, 0, twin);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
