/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a tool can stand before every single function of the standard ABI (MPI-5.0, section
 *         15.2.1).
 * Method: every_wrapper.c, made from the ABI's list of functions, defines all of them, counts and
 *         calls the PMPI_ one; a compiler that knows mpi.h accepts each.
 */
#include "test/mpi/check.h"

int EveryCalls(void);

int main(int argc, char** argv) {
  int size = 0, number = 0;
  EXPECT(EveryCalls() == 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_version(&size, &number);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_Aint_add(1, 2) == 3);
  EXPECT(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &number);
  MPI_T_finalize();
  MPI_Pcontrol(1);
  EXPECT(EveryCalls() == 10); /* Passed() may add more */
  return Passed();
}
