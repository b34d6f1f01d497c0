// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// All processes begin to measure at about the same time.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  // The work that is measured goes here.
  double mine = MPI_Wtime() - start, slowest;
  MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return MPI_Finalize();
}
