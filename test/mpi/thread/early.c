/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   MPI_Query_thread before MPI_Init is an error that says so, not a crash (MPI-5.0, section
 *         11.4.1 does not list it among what may be called then).
 */
#include "test/mpi/check.h"

int main(void) {
  int level;
  MPI_Query_thread(&level);
  return 0;
}
