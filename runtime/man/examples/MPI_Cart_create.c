// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// The processes form a grid of two dimensions, which is a ring in the first one.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size, rank, dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2];
  MPI_Comm grid;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, coords);
  printf("rank %d is at %d, %d\n", rank, coords[0], coords[1]);
  MPI_Comm_free(&grid);
  return MPI_Finalize();
}
