/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: the initial error handler, here MPI_ERRORS_RETURN by parameter, is that of MPI_COMM_WORLD
 * and MPI_COMM_SELF to begin with and serves errors before MPI_Init and after MPI_Finalize
 * (MPI-5.0, section 9.3).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  MPI_Errhandler got;
  int value = 0;
  if (MPI_Comm_size(MPI_COMM_WORLD, &value) == MPI_SUCCESS) ++failures;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  EXPECT(ClassOf(MPI_Comm_size(MPI_COMM_NULL, &value)) == MPI_ERR_COMM);
  EXPECT(MPI_Init(&argc, &argv) != MPI_SUCCESS);
  MPI_Finalize();
  if (MPI_Comm_size(MPI_COMM_WORLD, &value) == MPI_SUCCESS) ++failures;
  if (MPI_Finalize() == MPI_SUCCESS) ++failures;
  return failures != 0;
}
