// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

// A promise that nothing in this program receives from MPI_ANY_SOURCE.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_no_any_source", "true");
  MPI_Comm_set_info(MPI_COMM_WORLD, hints);
  MPI_Info_free(&hints);
  return MPI_Finalize();
}
