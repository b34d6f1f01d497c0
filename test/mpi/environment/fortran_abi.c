/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: what a Fortran layer says about itself is kept, once, and given back; all of it may be
 * called before MPI_Init (MPI-5.0, section 21.4.1).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  MPI_Info info, got;
  int yes = 1, no = 0, read_yes = 7, read_no = 7, is_set = 7, length = 10, flag = 0;
  char value[10] = "";

  MPI_Abi_get_fortran_info(&got);
  if (got != MPI_INFO_NULL) ++failures; /* nobody has said anything */
  MPI_Abi_get_fortran_booleans(4, &read_yes, &read_no, &is_set);
  if (is_set || read_yes != 7) ++failures;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_integer_size", "4");
  if (MPI_Abi_set_fortran_info(info) != MPI_SUCCESS) ++failures;
  if (MPI_Abi_set_fortran_booleans(4, &yes, &no) != MPI_SUCCESS) ++failures;
  MPI_Info_set(info, "mpi_integer_size", "8"); /* ours now: nothing changes */

  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(MPI_Abi_get_fortran_info(&got) == MPI_SUCCESS && got != MPI_INFO_NULL);
  MPI_Info_get_string(got, "mpi_integer_size", &length, value, &flag);
  EXPECT(flag && strcmp(value, "4") == 0);
  MPI_Info_free(&got);
  EXPECT(MPI_Abi_get_fortran_booleans(4, &read_yes, &read_no, &is_set) == MPI_SUCCESS);
  EXPECT(is_set && read_yes == 1 && read_no == 0);

  EXPECT(ClassOf(MPI_Abi_set_fortran_info(info)) == MPI_ERR_ABI);
  EXPECT(ClassOf(MPI_Abi_set_fortran_booleans(4, &no, &yes)) == MPI_ERR_ABI);
  EXPECT(ClassOf(MPI_Abi_set_fortran_booleans(3, &no, &yes)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Abi_get_fortran_booleans(8, &read_yes, &read_no, &is_set)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Abi_set_fortran_info(MPI_INFO_NULL)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Abi_get_fortran_info(NULL)) == MPI_ERR_ARG);
  MPI_Info_free(&info);
  return Passed();
}
