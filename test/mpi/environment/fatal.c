/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: by default an error ends the job, with one message that names rank, call, argument and
 * class (MPI-5.0, section 9.3).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int value = 0, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
