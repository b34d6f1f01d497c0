/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   threads may run collectives at the same time, each on a communicator of its own, in every
 *         form, and start non-blocking ones on one communicator in an order they agree on
 *         (MPI-5.0, sections 6.14 and 11.6).
 * Method: as many communicators as threads; each thread runs a mixture of collectives many times
 *         and checks every result; all complete requests that another thread started.
 */
#include <pthread.h>

#include "test/mpi/check.h"

enum { kThreads = 4, kTurns = 60, kInFlight = 10 };

static int rank, size;
static MPI_Comm comms[kThreads];
static int wrong[kThreads];

static void* Work(void* argument) {
  const int me = *(int*)argument, sum = size * (size - 1) / 2;
  MPI_Comm comm = comms[me];
  int turn, i;
  for (turn = 0; turn < kTurns; ++turn) {
    MPI_Request requests[kInFlight], persistent;
    int in[kInFlight], out[kInFlight], all[64], one = rank + turn, total = -1, data = -1;
    MPI_Allreduce_init(&one, &total, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent);
    for (i = 0; i < kInFlight; ++i) {
      in[i] = rank + i;
      MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    }
    MPI_Start(&persistent);
    if (rank == turn % size) data = 1000 * me + turn;
    MPI_Bcast(&data, 1, MPI_INT, turn % size, comm);
    if (data != 1000 * me + turn) ++wrong[me];
    MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (i = 0; i < size; ++i)
      if (all[i] != i + turn) ++wrong[me];
    MPI_Waitall(kInFlight, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < kInFlight; ++i)
      if (out[i] != sum + size * i) ++wrong[me];
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent);
    if (total != sum + size * turn) ++wrong[me];
    MPI_Barrier(comm);
  }
  return NULL;
}

static MPI_Request shared[kThreads];
static void* WaitForOne(void* argument) {
  MPI_Wait(&shared[*(int*)argument], MPI_STATUS_IGNORE);
  return NULL;
}

static void InThreads(void* (*work)(void*)) {
  pthread_t threads[kThreads];
  int numbers[kThreads], i;
  for (i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, work, &numbers[i]);
  }
  for (i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int level, i, results[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  EXPECT(level == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  InThreads(Work);
  for (i = 0; i < kThreads; ++i) EXPECT(wrong[i] == 0);
  /* Calls are started here, and any thread completes them. */
  for (i = 0; i < kThreads; ++i)
    MPI_Iallreduce(&rank, &results[i], 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &shared[i]);
  InThreads(WaitForOne);
  for (i = 0; i < kThreads; ++i) EXPECT(results[i] == size - 1);
  for (i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
  return Passed();
}
