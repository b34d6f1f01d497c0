/* SPDX-License-Identifier: BSD-3-Clause
 * Calls of one operation, for ways_test.sh.
 *
 * usage: mpiexec -n N ways alltoall|bcast BYTES CALLS
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int size, call;
  char *out, *in;
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int bytes = atoi(argv[2]);
  out = calloc((size_t)size, (size_t)bytes);
  in = calloc((size_t)size, (size_t)bytes);
  for (call = 0; call < atoi(argv[3]); ++call) {
    if (strcmp(argv[1], "bcast") == 0)
      MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
      MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
