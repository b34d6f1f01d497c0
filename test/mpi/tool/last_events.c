/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   when a rank dies, mpiexec -v says what it recorded last, without help from the rank (ours
 *         alone).
 * Method: an error that is handed back, then a death that runs no handler of ours.
 */
#include <signal.h>

#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int rank, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
  if (rank == 0) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  return Passed();
}
