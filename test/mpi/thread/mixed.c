/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   threads that receive from anybody with any tag on one shared communicator get each
 * message exactly once, beside traffic on private communicators and matched probes (MPI-5.0,
 * sections 3.5, 3.8.2 and 11.6.2). Method: each thread sends numbers round robin and takes as many
 * as are sent to its process, whichever they are; sums of what was sent and received must agree
 * over all ranks.
 */
#include <pthread.h>

#include "test/mpi/check.h"

enum { kThreads = 4, kMessages = 60 };

static MPI_Comm shared, private[kThreads];
static int rank, ranks;
static long long sent[kThreads], received[kThreads];
static int bad[kThreads];

static void TakeOne(int me, int round) {
  long long number = 0;
  MPI_Message message;
  MPI_Status status;
  if (round % 2 == 0) {
    MPI_Recv(&number, 1, MPI_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &status);
  } else {
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shared, &message, &status);
    MPI_Mrecv(&number, 1, MPI_LONG_LONG, &message, &status);
  }
  bad[me] += number % 100 != status.MPI_TAG || number / 100 % 100 != status.MPI_SOURCE;
  received[me] += number;
}

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  for (int round = 0; round < kMessages; ++round) {
    const int to = (rank + 1 + round) % ranks;
    int ping = round, pong = -1;
    const long long number = 100ll * rank + me * 10 + round % 10 + 10000ll * round;
    MPI_Request request;
    MPI_Isend(&number, 1, MPI_LONG_LONG, to, (int)(number % 100), shared, &request);
    sent[me] += number;
    MPI_Sendrecv(&ping, 1, MPI_INT, (rank + 1) % ranks, round, &pong, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, round, private[me], MPI_STATUS_IGNORE);
    bad[me] += pong != round;
    TakeOne(me, round);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  long long all[2] = {0, 0}, total[2];
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  for (int t = 0; t < kThreads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &private[t]);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) {
    EXPECT(bad[t] == 0);
    all[0] += sent[t];
    all[1] += received[t];
    MPI_Comm_free(&private[t]);
  }
  MPI_Allreduce(all, total, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(total[0] == total[1]);
  MPI_Comm_free(&shared);
  return Passed();
}
