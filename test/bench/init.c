/* SPDX-License-Identifier: BSD-3-Clause */
/* The shortest MPI program: the whole command around it is timed. */
#include <mpi.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
