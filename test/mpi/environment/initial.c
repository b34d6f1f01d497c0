/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: the initial error handler, here MPI_ERRORS_RETURN by mpiexec's -initial-errhandler, is that
 * of MPI_COMM_WORLD and MPI_COMM_SELF to begin with and serves errors before MPI_Init and after
 * MPI_Finalize (MPI-5.0, section 9.3); of the kinds of memory that -memory-alloc-kinds asks for,
 * those that are supported are granted (section 11.5).
 */
#include <string.h>

#include "test/mpi/check.h"

static int Grants(MPI_Info info, const char* kind) {
  char value[200] = "";
  int length = sizeof value, flag;
  MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag);
  return flag && strstr(value, kind) != NULL;
}

int main(int argc, char** argv) {
  MPI_Errhandler got;
  MPI_Info info;
  int value = 0;
  if (MPI_Comm_size(MPI_COMM_WORLD, &value) == MPI_SUCCESS) ++failures;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  MPI_Comm_get_info(MPI_COMM_WORLD, &info);
  EXPECT(Grants(info, "system") && Grants(info, "mpi:alloc_mem") && !Grants(info, "moonlight"));
  EXPECT(Grants(MPI_INFO_ENV, "mpi:alloc_mem"));
  MPI_Info_free(&info);
  EXPECT(ClassOf(MPI_Comm_size(MPI_COMM_NULL, &value)) == MPI_ERR_COMM);
  EXPECT(MPI_Init(&argc, &argv) != MPI_SUCCESS);
  MPI_Finalize();
  if (MPI_Comm_size(MPI_COMM_WORLD, &value) == MPI_SUCCESS) ++failures;
  if (MPI_Finalize() == MPI_SUCCESS) ++failures;
  return failures != 0;
}
