/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   at MPI_THREAD_MULTIPLE several threads communicate at once and none loses or keeps
 * another's message, also while one of them sleeps in a receive (MPI-5.0, section 11.6). Method:
 * thread t of each rank exchanges with thread t of the next rank on its own tag, sizes mixed.
 */
#include <pthread.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kThreads = 3, kRounds = 300, kIntsMax = 20000 };

static int rank, ranks, bad[kThreads];

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  int* out = malloc(kIntsMax * sizeof *out);
  int* in = malloc(kIntsMax * sizeof *in);
  for (int round = 0; round < kRounds; ++round) {
    const int count = round % 50 == 0 ? kIntsMax : round % 9 + 1;
    MPI_Request request;
    for (int i = 0; i < count; ++i) out[i] = rank * 100 + me * 10 + round + i;
    MPI_Irecv(in, count, MPI_INT, (rank + ranks - 1) % ranks, me, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_INT, (rank + 1) % ranks, me, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int base = (rank + ranks - 1) % ranks * 100 + me * 10 + round;
    for (int i = 0; i < count; ++i) bad[me] += in[i] != base + i;
  }
  free(in);
  free(out);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) EXPECT(bad[t] == 0);
  return Passed();
}
