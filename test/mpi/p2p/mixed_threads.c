/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   at MPI_THREAD_MULTIPLE many threads communicate at once, with and without wildcards, on
 *         communicators they share and on ones of their own, in every way to wait, and no message
 * is lost, kept, torn or overtaken (MPI-5.0, sections 3.5 and 11.6). Method: 8 threads a rank. On
 * its own communicator, thread t of each rank exchanges numbered messages with all ranks from
 * MPI_ANY_SOURCE and checks the order of each sender. On the shared one, threads of all ranks send
 * tagged tickets to each other, received by whichever thread of the destination comes first; in the
 * end every ticket was received once. usage: mixed_threads REPETITIONS
 */
#include <pthread.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kThreads = 8, kMessages = 12, kIntsMax = 3000, kTicketTag = 1000, kTickets = 10 };

static int rank, ranks, repetitions;
static MPI_Comm shared, own[kThreads];
static int bad[kThreads];
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;
static int* seen; /* how often each ticket to this rank came, by sender, thread and number */

static int LengthOf(int number) { return number % 6 == 5 ? kIntsMax : 2 + number % 9; }

/* Every rank sends kMessages numbered messages to every rank, and all are received with
 * MPI_ANY_SOURCE. */
static void PrivateTraffic(int thread, int round) {
  const int total = kMessages * ranks;
  int* out = malloc((size_t)total * kIntsMax * sizeof *out);
  int* in = malloc(kIntsMax * sizeof *in);
  int* next = calloc((size_t)ranks, sizeof *next);
  MPI_Request* sends = malloc((size_t)total * sizeof *sends);
  for (int i = 0; i < total; ++i) {
    const int number = i / ranks, to = (rank + i) % ranks;
    int* data = out + (size_t)i * kIntsMax;
    for (int k = 0; k < LengthOf(number); ++k) data[k] = number + k;
    data[0] = number;
    data[1] = round;
    if (number % 4 == 3)
      MPI_Issend(data, LengthOf(number), MPI_INT, to, number % 3, own[thread], &sends[i]);
    else
      MPI_Isend(data, LengthOf(number), MPI_INT, to, number % 3, own[thread], &sends[i]);
  }
  for (int i = 0; i < total; ++i) {
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int count = 0;
    switch ((i + thread) % 3) {
      case 0:
        MPI_Recv(in, kIntsMax, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, own[thread], &status);
        break;
      case 1:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own[thread], &message, &status);
        MPI_Mrecv(in, kIntsMax, MPI_INT, &message, &status);
        break;
      default:
        MPI_Irecv(in, kIntsMax, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, own[thread], &request);
        MPI_Wait(&request, &status);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    const int number = next[status.MPI_SOURCE]++;
    bad[thread] += in[0] != number || in[1] != round || status.MPI_TAG != number % 3 ||
                   count != LengthOf(number) || (count > 2 && in[count - 1] != number + count - 1);
  }
  MPI_Waitall(total, sends, MPI_STATUSES_IGNORE);
  for (int r = 0; r < ranks; ++r) bad[thread] += next[r] != kMessages;
  free(sends);
  free(next);
  free(in);
  free(out);
}

/* Each thread sends kTickets tickets to every rank and receives as many of any sender. */
static void SharedTraffic(int thread, int round) {
  const int total = kTickets * ranks;
  int(*out)[4] = malloc((size_t)total * sizeof *out);
  MPI_Request* requests = malloc(2 * (size_t)total * sizeof *requests);
  int(*in)[4] = malloc((size_t)total * sizeof *in);
  MPI_Status* statuses = malloc((size_t)total * sizeof *statuses);
  for (int i = 0; i < total; ++i)
    MPI_Irecv(in[i], 4, MPI_INT, MPI_ANY_SOURCE, kTicketTag + round % 2, shared, &requests[i]);
  for (int i = 0; i < total; ++i) {
    out[i][0] = rank;
    out[i][1] = thread;
    out[i][2] = i / ranks;
    out[i][3] = round;
    MPI_Isend(out[i], 4, MPI_INT, i % ranks, kTicketTag + round % 2, shared, &requests[total + i]);
  }
  if (thread % 2 == 0) {
    MPI_Waitall(total, requests, statuses);
  } else {
    int indices[kTickets * 64];
    for (int left = total, done; left > 0; left -= done)
      MPI_Waitsome(total, requests, &done, indices, MPI_STATUSES_IGNORE);
  }
  MPI_Waitall(total, requests + total, MPI_STATUSES_IGNORE);
  pthread_mutex_lock(&seen_lock);
  for (int i = 0; i < total; ++i) {
    bad[thread] += in[i][3] != round;
    ++seen[(in[i][0] * kThreads + in[i][1]) * kTickets + in[i][2]];
  }
  pthread_mutex_unlock(&seen_lock);
  free(statuses);
  free(in);
  free(requests);
  free(out);
}

static void* Run(void* argument) {
  const int thread = (int)(size_t)argument;
  for (int round = 0; round < repetitions; ++round) {
    PrivateTraffic(thread, round);
    SharedTraffic(thread, round);
    /* Tickets of different rounds may not meet: a round ends when all threads everywhere are done.
     */
    MPI_Barrier(own[thread]);
    if (thread == 0) {
      int word = round;
      for (int t = 1; t < kThreads; ++t) {
        MPI_Recv(&word, 1, MPI_INT, 0, 2000 + t, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        bad[thread] += word != round;
      }
      for (int t = 1; t < kThreads; ++t) MPI_Send(&round, 1, MPI_INT, 0, 3000 + t, MPI_COMM_SELF);
    } else {
      int word = -1;
      MPI_Send(&round, 1, MPI_INT, 0, 2000 + thread, MPI_COMM_SELF);
      MPI_Recv(&word, 1, MPI_INT, 0, 3000 + thread, MPI_COMM_SELF, MPI_STATUS_IGNORE);
      bad[thread] += word != round;
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  repetitions = argc > 1 ? atoi(argv[1]) : 3;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  for (int t = 0; t < kThreads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
  seen = calloc((size_t)ranks * kThreads * kTickets, sizeof *seen);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) EXPECT(bad[t] == 0);
  int wrong = 0;
  for (int i = 0; i < ranks * kThreads * kTickets; ++i) wrong += seen[i] != repetitions;
  EXPECT(wrong == 0);
  free(seen);
  for (int t = 0; t < kThreads; ++t) MPI_Comm_free(&own[t]);
  MPI_Comm_free(&shared);
  return Passed();
}
