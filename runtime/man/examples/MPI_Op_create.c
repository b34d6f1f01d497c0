// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// Of two numbers, the one with the larger magnitude wins.
static void Larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const double* left = in;
  double* right = inout;
  for (int i = 0; i < *count; ++i)
    if (left[i] * left[i] > right[i] * right[i]) right[i] = left[i];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double value = -1, result;
  MPI_Op larger;
  MPI_Op_create(Larger, 1, &larger);
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, larger, MPI_COMM_WORLD);
  MPI_Op_free(&larger);
  return MPI_Finalize();
}
