/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   long messages arrive whole, in order and with the right status, whether they are read out
 *         of the sender's memory or pushed through the ring, and both happen (p2p.engine.push).
 * Method: more than two rounds of trials to the neighbour, one at a time and in windows, of three
 *         sizes, received as they are, every second int of a buffer, and cut short; counters tell.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kRounds = 600, kWindow = 4, kIntsMax = 1 << 17 };

static int *sent[kWindow], *received;
static int rank, ranks;

static MPI_T_pvar_session session;

static MPI_T_pvar_handle Started(const char *name) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1, count = 0;
  EXPECT(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS);
  EXPECT(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
  EXPECT(MPI_T_pvar_start(session, handle) == MPI_SUCCESS);
  return handle;
}

static unsigned long long Read(MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  EXPECT(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  return value;
}

static void Receive(int round, int from, int ints, int tag) {
  const int way = round % 3;
  MPI_Status status;
  int got = -1;
  memset(received, 0, 2 * kIntsMax * sizeof(int));
  if (way == 0) {
    EXPECT(MPI_Recv(received, ints, MPI_INT, from, tag, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
  } else if (way == 1) {
    MPI_Datatype every_second;
    MPI_Type_vector(ints, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    EXPECT(MPI_Recv(received, 1, every_second, from, tag, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    MPI_Type_free(&every_second);
  } else {
    EXPECT(ClassOf(MPI_Recv(received, ints / 2, MPI_INT, from, tag, MPI_COMM_WORLD, &status)) ==
           MPI_ERR_TRUNCATE);
  }
  const int wanted = way == 2 ? ints / 2 : ints, stride = way == 1 ? 2 : 1;
  MPI_Get_count(&status, MPI_INT, &got);
  EXPECT(got == wanted && status.MPI_TAG == tag && status.MPI_SOURCE == from);
  int wrong = 0;
  for (int i = 0; i < wanted; ++i) wrong += received[i * stride] != tag * 131 + i;
  EXPECT(wrong == 0);
  EXPECT(received[wanted * stride] == 0); /* nothing behind it was written */
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  const MPI_T_pvar_handle fetched = Started("p2p.received.zero_copy.messages");
  const MPI_T_pvar_handle all = Started("p2p.received.rendezvous.messages");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  received = malloc((2 * kIntsMax + 1) * sizeof(int));
  for (int w = 0; w < kWindow; ++w) sent[w] = malloc(kIntsMax * sizeof(int));
  for (int round = 0; round < kRounds; ++round) {
    const int part = round % 2 == 0 ? 16 : round % 4 == 1 ? 4 : 1;
    const int ints = kIntsMax / part - 3;
    const int window = round % 5 == 0 ? kWindow : 1;
    MPI_Request requests[kWindow];
    for (int w = 0; w < window; ++w) {
      const int tag = round * kWindow + w;
      for (int i = 0; i < ints; ++i) sent[w][i] = tag * 131 + i;
      MPI_Isend(sent[w], ints, MPI_INT, next, tag, MPI_COMM_WORLD, &requests[w]);
    }
    for (int w = 0; w < window; ++w) Receive(round, before, ints, round * kWindow + w);
    EXPECT(MPI_Waitall(window, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  }
  EXPECT(Read(fetched) > 0);
  EXPECT(Read(fetched) < Read(all));
  for (int w = 0; w < kWindow; ++w) free(sent[w]);
  free(received);
  return Passed();
}
