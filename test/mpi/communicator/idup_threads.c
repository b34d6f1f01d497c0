/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: with MPI_THREAD_MULTIPLE several threads duplicate communicators at the same time, waiting
 * or not, and make some by MPI_Comm_create_group under tags of their own; every context is agreed
 * upon by those it belongs to (MPI-5.0, sections 7.4.2 and 11.6).
 */
#include <pthread.h>

#include "test/mpi/check.h"

#define THREADS 4
#define ROUNDS 25

static MPI_Comm own[THREADS];
static MPI_Group everybody;

static void Use(MPI_Comm comm, int number) {
  int sum = 0, size;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == number * size);
}

static void* Work(void* argument) {
  const int me = (int)(long)argument;
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    MPI_Comm made[4];
    MPI_Request requests[2];
    int i;
    MPI_Comm_idup(own[me], &made[0], &requests[0]);
    MPI_Comm_idup(own[me], &made[1], &requests[1]);
    MPI_Comm_dup(own[me], &made[2]);
    MPI_Comm_create_group(MPI_COMM_WORLD, everybody, 1000 + me, &made[3]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < 4; ++i) Use(made[i], 10 * me + i + 1);
    for (i = 0; i < 4; ++i) MPI_Comm_free(&made[i]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  int provided;
  long i;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  for (i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  for (i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, Work, (void*)i);
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < THREADS; ++i) MPI_Comm_free(&own[i]);
  MPI_Group_free(&everybody);
  return Passed();
}
