// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "threads cannot call MPI at any time\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return MPI_Finalize();
}
