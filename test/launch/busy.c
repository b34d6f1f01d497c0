/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the same all the time until the standard input of rank 0 ends, for top_test.py: ranks 0 and
 * 1 send messages of 4096 bytes to and fro, rank 2 computes, further ones wait.
 *
 * usage: busy */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>

static int is_over(void) {
  struct pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 0) != 0;
}

/* The first byte says whether this was the last message. */
static void send_to_and_fro(int rank) {
  char message[4096] = {0};
  do {
    if (rank == 0) {
      message[0] = (char)is_over();
      MPI_Send(message, sizeof message, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    }
    MPI_Recv(message, sizeof message, MPI_CHAR, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(message, sizeof message, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
  } while (message[0] == 0);
}

int main(int argc, char** argv) {
  int rank, size, over = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  puts("here");
  fflush(stdout);
  if (rank < 2) send_to_and_fro(rank);
  if (rank == 0)
    for (int other = 2; other < size; ++other)
      MPI_Send(&over, 1, MPI_INT, other, 6, MPI_COMM_WORLD);
  while (rank == 2 && !over) MPI_Iprobe(0, 6, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
  if (rank >= 2) MPI_Recv(&over, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
