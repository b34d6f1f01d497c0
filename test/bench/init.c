/* SPDX-License-Identifier: BSD-3-Clause */
/* This is the shortest MPI program; `run` times the whole command around it. */
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
