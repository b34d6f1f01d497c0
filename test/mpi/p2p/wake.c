/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a thread that waits goes on when another thread of its process does what it waits for:
 *         MPI_Grequest_complete, a message to oneself, MPI_Cancel, MPI_Pready, or progress that
 *         completes its request along the way (MPI-5.0, sections 11.6 and 13.2).
 * Method: one thread waits in each way until the library would be asleep; the other acts only after
 *         the first has told that it is about to wait. 50 rounds within the test's time limit,
 *         which sleeps that end only by timeout would exceed.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "test/mpi/check.h"

enum { kWays = 6, kRounds = 50 };

static int rank, ranks;
static atomic_int begun, ended; /* numbers of waits */
static MPI_Request request;
static int bad;

static int Query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_cancelled(status, 0);
  MPI_Status_set_elements(status, MPI_INT, 3);
  return MPI_SUCCESS;
}
static int Nothing(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int NotCancelled(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

/* The waiting thread does this; `number` is told first. */
static void Wait(int way, int number) {
  MPI_Status status;
  MPI_Message message;
  int value = -1, index = -1, flag = 0;
  MPI_Request list[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  switch (way) {
    case 0:
      MPI_Grequest_start(Query, Nothing, NotCancelled, NULL, &request);
      list[1] = request;
      atomic_store(&begun, number);
      MPI_Waitany(2, list, &index, &status);
      MPI_Get_count(&status, MPI_INT, &value);
      bad += index != 1 || value != 3;
      break;
    case 1:
      atomic_store(&begun, number);
      MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
      bad += value != number;
      break;
    case 2:
      atomic_store(&begun, number);
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &message, &status);
      MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
      bad += value != number;
      break;
    case 3:
      MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
      list[0] = request;
      atomic_store(&begun, number);
      MPI_Wait(&list[0], &status);
      MPI_Test_cancelled(&status, &flag);
      bad += !flag;
      break;
    case 4: {
      int out[2] = {number, number + 1}, in[2] = {-1, -1};
      MPI_Request receive;
      MPI_Psend_init(out, 2, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, &request);
      MPI_Precv_init(in, 1, 2, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, &receive);
      MPI_Start(&request);
      MPI_Start(&receive);
      list[0] = request;
      atomic_store(&begun, number);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Wait(&list[0], MPI_STATUS_IGNORE);
      bad += in[0] != number || in[1] != number + 1;
      MPI_Request_free(&list[0]);
      MPI_Request_free(&receive);
      break;
    }
    default: /* its message comes from the next rank while the other thread waits as well */
      atomic_store(&begun, number);
      MPI_Recv(&value, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &status);
      bad += value != number;
  }
}

static void Act(int way, int number) {
  switch (way) {
    case 0:
      MPI_Grequest_complete(request);
      break;
    case 1:
    case 2:
      MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
      break;
    case 3: {
      MPI_Request copy = request;
      MPI_Cancel(&copy);
      break;
    }
    case 4:
      MPI_Pready(1, request);
      MPI_Pready(0, request);
      break;
    default:
      MPI_Send(&number, 1, MPI_INT, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void* Waiter(void* argument) {
  (void)argument;
  for (int number = 1; number <= kWays * kRounds; ++number) {
    Wait(number % kWays, number);
    atomic_store(&ended, number);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t waiter;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_create(&waiter, NULL, Waiter, NULL);
  for (int number = 1; number <= kWays * kRounds; ++number) {
    const struct timespec moment = {0, 300000};
    while (atomic_load(&begun) < number) sched_yield();
    /* tidy: sleep: makes it likely that the waiter sleeps; the test holds either way */
    nanosleep(&moment, NULL);
    Act(number % kWays, number);
    while (atomic_load(&ended) < number) sched_yield();
  }
  pthread_join(waiter, NULL);
  EXPECT(bad == 0);
  return Passed();
}
