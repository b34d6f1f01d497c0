// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Everybody learns the largest error and so comes to the same decision.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 1;
  do {
    double own = error / 2;  // a step of the solver, on this process's part
    MPI_Allreduce(&own, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  } while (error > 1e-6);
  return MPI_Finalize();
}
