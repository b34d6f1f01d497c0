/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   several threads wait at once, each for its own requests, and each is woken when these and
 *         only these have ended, whatever others do (MPI-5.0, section 11.6.2).
 * Method: one thread per way to wait, receives posted from the previous rank; the main thread of
 *         that rank sends in the opposite order. Then one thread waits for a message that another
 *         thread of the same process sends.
 */
#include <pthread.h>

#include "test/mpi/check.h"

enum { kThreads = 4, kEach = 8, kRounds = 10 };

static int rank, ranks, bad[kThreads];
static MPI_Request requests[kThreads][kEach];
static int values[kThreads][kEach];

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  int index, flag = 0, done = 0, indices[kEach];
  switch (me) {
    case 0:
      MPI_Waitall(kEach, requests[me], MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0; i < kEach; ++i) {
        MPI_Waitany(kEach, requests[me], &index, MPI_STATUS_IGNORE);
        bad[me] += index < 0 || index >= kEach;
      }
      break;
    case 2:
      for (int left = kEach; left > 0; left -= done)
        MPI_Waitsome(kEach, requests[me], &done, indices, MPI_STATUSES_IGNORE);
      break;
    default:
      for (int i = 0; i < kEach; ++i)
        for (flag = 0; !flag;) MPI_Test(&requests[me][i], &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < kEach; ++i) {
    bad[me] += requests[me][i] != MPI_REQUEST_NULL;
    bad[me] += values[me][i] != me * 100 + i;
  }
  return NULL;
}

static void* SendToMyself(void* unused) {
  const int value = 42;
  MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
  return unused;
}
static void* ReceiveFromMyself(void* value) {
  MPI_Recv(value, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, got = 0;
  pthread_t threads[kThreads], one, other;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < kRounds; ++round) {
    for (int t = 0; t < kThreads; ++t)
      for (int i = 0; i < kEach; ++i) {
        values[t][i] = -1;
        MPI_Irecv(&values[t][i], 1, MPI_INT, (rank + ranks - 1) % ranks, t * kEach + i,
                  MPI_COMM_WORLD, &requests[t][i]);
      }
    for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
    for (int t = kThreads - 1; t >= 0; --t)
      for (int i = kEach - 1; i >= 0; --i) {
        const int value = t * 100 + i;
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % ranks, t * kEach + i, MPI_COMM_WORLD);
      }
    for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  }
  for (int t = 0; t < kThreads; ++t) EXPECT(bad[t] == 0);

  for (int round = 0; round < kRounds; ++round) {
    got = 0;
    pthread_create(&one, NULL, ReceiveFromMyself, &got);
    pthread_create(&other, NULL, SendToMyself, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    EXPECT(got == 42);
  }
  return Passed();
}
