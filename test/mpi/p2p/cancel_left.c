/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a send to a process that has finalized and still runs ends when it is cancelled (MPI-5.0,
 *         section 3.8.4).
 * Method: the receiver opens a named pipe after MPI_Finalize, which tells the sender, and ends when
 *         the sender closes another one. Sends are short, synchronous and long.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kLong = 40000, kSends = 3 };

static int out[kLong];
static char to_sender[256], to_receiver[256];

/* Waits until the other process has opened the pipe, and returns the descriptor. */
static int Open(const char* path, int flags) {
  const int pipe = open(path, flags);
  if (pipe < 0) {
    perror(path);
    exit(1);
  }
  return pipe;
}

static void Send(void) {
  MPI_Request requests[kSends];
  char byte;
  int i, pipe;
  close(Open(to_sender, O_RDONLY)); /* the receiver has finalized */
  MPI_Isend(out, kLong, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(out, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Issend(out, kLong, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[2]);
  for (i = 0; i < kSends; ++i) {
    MPI_Status status;
    int cancelled = 0;
    EXPECT(MPI_Cancel(&requests[i]) == MPI_SUCCESS);
    EXPECT(MPI_Wait(&requests[i], &status) == MPI_SUCCESS);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT(cancelled);
  }
  pipe = Open(to_receiver, O_WRONLY);
  byte = 0;
  EXPECT(write(pipe, &byte, 1) == 1);
  close(pipe);
}

static void Leave(void) {
  char byte;
  int pipe;
  MPI_Finalize();
  close(Open(to_sender, O_WRONLY));
  pipe = Open(to_receiver, O_RDONLY);
  if (read(pipe, &byte, 1) != 1) exit(1);
  unlink(to_sender);
  unlink(to_receiver);
  exit(0);
}

int main(int argc, char** argv) {
  const char* folder = getenv("TEST_TMPDIR");
  int rank, word = 0, pid;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (folder == NULL) folder = "/tmp";
  snprintf(to_sender, sizeof to_sender, "%s/cancel-%d-a", folder, pid);
  snprintf(to_receiver, sizeof to_receiver, "%s/cancel-%d-b", folder, pid);
  if (rank == 0 && (mkfifo(to_sender, 0600) != 0 || mkfifo(to_receiver, 0600) != 0)) {
    perror(to_sender);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  /* The processes know each other before. */
  MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  if (rank == 1) Leave();
  Send();
  return Passed();
}
