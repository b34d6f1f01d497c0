/* SPDX-License-Identifier: BSD-3-Clause
 * The program of partial_test.py. The last rank kills itself, and the others are in a collective
 * that needs it, so none of them may come out of it with a result. They do not heed SIGTERM, so
 * that the launcher does not end them too soon for that.
 *
 *   blocking|nonblocking|persistent    how they call it
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInts = 1000 };

int main(int argc, char** argv) {
  static int in[kInts], out[kInts];
  const char* const way = argc > 1 ? argv[1] : "";
  const int persistent = strcmp(way, "persistent") == 0;
  int rank, size;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  signal(SIGTERM, SIG_IGN);
  for (int i = 0; i < kInts; ++i) in[i] = 1;
  if (persistent)
    MPI_Allreduce_init(in, out, kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int turn = 0; turn < 2; ++turn) {
    memset(out, 0, sizeof out);
    if (turn == 1 && rank == size - 1) raise(SIGKILL);
    if (persistent)
      MPI_Start(&request);
    else if (strcmp(way, "nonblocking") == 0)
      MPI_Iallreduce(in, out, kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else
      MPI_Allreduce(in, out, kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("turn %d: %d\n", turn, out[0]);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return 1;
}
