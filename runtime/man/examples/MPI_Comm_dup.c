// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// A library keeps its messages apart from those of the program that calls it.
static MPI_Comm library_comm;

static void LibraryBegin(MPI_Comm comm) { MPI_Comm_dup(comm, &library_comm); }
static void LibraryEnd(void) { MPI_Comm_free(&library_comm); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  LibraryBegin(MPI_COMM_WORLD);
  LibraryEnd();
  return MPI_Finalize();
}
