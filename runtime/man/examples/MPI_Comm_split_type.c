// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stdio.h>

// The processes of each node get a communicator of their own.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  printf("%d processes share this node\n", size);
  MPI_Comm_free(&node);
  return MPI_Finalize();
}
