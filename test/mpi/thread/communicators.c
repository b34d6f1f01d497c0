/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   threads make, use and free communicators at the same time, each from its own parent, and
 *         never get one another's messages (MPI-5.0, sections 7.4.2 and 11.6.2).
 * Method: each thread duplicates and splits its own parent again and again, and creates one from a
 *         group under a tag of its own out of MPI_COMM_WORLD, which all threads share.
 */
#include <pthread.h>

#include "test/mpi/check.h"

enum { kThreads = 4, kRounds = 20 };

static MPI_Comm parents[kThreads];
static MPI_Group everybody;
static int rank, ranks, bad[kThreads];

/* Adds up a number over `comm` that only this thread and round has. */
static void Use(int me, MPI_Comm comm, int number) {
  int sum = -1, size = 0, mine = 0, got = -1;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &mine);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  bad[me] += sum != number * size;
  MPI_Sendrecv(&number, 1, MPI_INT, (mine + 1) % size, 3, &got, 1, MPI_INT,
               (mine + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
  bad[me] += got != number;
}

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Comm twin, part, grouped;
    const int number = me * 1000 + round;
    MPI_Comm_dup(parents[me], &twin);
    MPI_Comm_split(twin, rank % 2, -rank, &part);
    MPI_Comm_create_group(MPI_COMM_WORLD, everybody, me, &grouped);
    Use(me, grouped, number);
    Use(me, part, number);
    Use(me, twin, number);
    MPI_Comm_free(&part);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&grouped);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  for (int t = 0; t < kThreads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) EXPECT(bad[t] == 0);
  for (int t = 0; t < kThreads; ++t) MPI_Comm_free(&parents[t]);
  MPI_Group_free(&everybody);
  return Passed();
}
