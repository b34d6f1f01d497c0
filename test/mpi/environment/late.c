/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: an MPI call after MPI_Finalize is answered clearly, not by a crash (MPI-5.0,
 * section 11.2.2).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return 0;
}
