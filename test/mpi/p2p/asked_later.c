/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   long data that a process asks for later than it could, because it sends long data too,
 *         come all the same, whatever it does next: sends, waits, or leaves that to another thread.
 * Method: an announcement has arrived before its receive is posted; then each way in its turn.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kBytes = 1 << 20, kRounds = 20, kLong = 1, kAnnounced, kDone };

static int rank;
static unsigned char *out, *in;

static void Check(int round) {
  int wrong = 0;
  for (int i = 0; i < kBytes; ++i) wrong += in[i] != (unsigned char)(round + i / 4096);
  EXPECT(wrong == 0);
  memset(in, 0, kBytes);
}

static void Fill(int round) {
  for (int i = 0; i < kBytes; ++i) out[i] = (unsigned char)(round + i / 4096);
}

/* Both send something long, so both count as senders of long messages. */
static void Exchange(int round) {
  Fill(round);
  MPI_Sendrecv(out, kBytes, MPI_BYTE, 1 - rank, kLong, in, kBytes, MPI_BYTE, 1 - rank, kLong,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Check(round);
}

/* Rank 1 has announced a long message when rank 0 has this one. */
static void Announce(MPI_Request* request) {
  MPI_Isend(out, kBytes, MPI_BYTE, 0, kLong, MPI_COMM_WORLD, request);
  MPI_Send(NULL, 0, MPI_BYTE, 0, kAnnounced, MPI_COMM_WORLD);
}
static void Receive(MPI_Request* request) {
  MPI_Recv(NULL, 0, MPI_BYTE, 1, kAnnounced, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(in, kBytes, MPI_BYTE, 1, kLong, MPI_COMM_WORLD, request);
}

static void Wait(MPI_Request* request, int round) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  if (rank == 0) Check(round);
}

static atomic_int waiting_thread;

/* Rank 1 says this once its long message has gone. */
static void* AwaitDone(void* unused) {
  waiting_thread = (int)gettid();
  MPI_Recv(NULL, 0, MPI_BYTE, 1, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return unused;
}

static void AwaitSleep(void) {
  char path[64], stat[256] = "";
  do {
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", waiting_thread);
    FILE* const file = waiting_thread == 0 ? NULL : fopen(path, "r");
    if (file == NULL) continue;
    stat[fread(stat, 1, sizeof stat - 1, file)] = 0;
    fclose(file);
  } while (strstr(stat, ") S ") == NULL);
}

static void ByWaiting(int round) {
  MPI_Request request;
  rank == 0 ? Receive(&request) : Announce(&request);
  Wait(&request, round);
}

static void BySending(int round) {
  MPI_Request request;
  rank == 0 ? Receive(&request) : Announce(&request);
  if (rank == 0) MPI_Send(out, kBytes, MPI_BYTE, 1, kLong, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, kBytes, MPI_BYTE, 0, kLong, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Wait(&request, round);
  if (rank == 1) Check(round);
}

static void ByAnotherThread(int round) {
  MPI_Request request;
  if (rank == 1) {
    Announce(&request);
    Wait(&request, round);
    MPI_Send(NULL, 0, MPI_BYTE, 0, kDone, MPI_COMM_WORLD);
    return;
  }
  pthread_t thread;
  MPI_Recv(NULL, 0, MPI_BYTE, 1, kAnnounced, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  waiting_thread = 0;
  EXPECT(pthread_create(&thread, NULL, AwaitDone, NULL) == 0);
  AwaitSleep();
  MPI_Irecv(in, kBytes, MPI_BYTE, 1, kLong, MPI_COMM_WORLD, &request);
  EXPECT(pthread_join(thread, NULL) == 0);
  Wait(&request, round);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = malloc(kBytes);
  in = malloc(kBytes);
  for (int round = 0; round < kRounds; ++round) {
    Exchange(round);
    ByWaiting(round);
    Exchange(round);
    BySending(round);
    Exchange(round);
    ByAnotherThread(round);
  }
  free(in);
  free(out);
  return Passed();
}
