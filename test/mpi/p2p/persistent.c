/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   persistent requests of every mode, to the next rank, to oneself and to MPI_PROC_NULL, are
 *         started together whatever their kinds, keep their handles, and can be cancelled, waited
 *         for in every way and freed while active (MPI-5.0, section 3.9).
 * Method: one list with a receive and a send of each mode, a partitioned pair and no peers;
 *         rounds with changing data; completion by all, some and any.
 */
#include "test/mpi/check.h"

enum { kModes = 4, kCount = 2 * kModes + 2, kInts = 3000, kRounds = 12 };

static int rank, ranks;
static int out[kModes][kInts], in[kModes][kInts], nothing = -5;

typedef int (*Init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static const Init inits[kModes] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};

static void Complete(MPI_Request requests[], int how) {
  int left = kCount, done, index, indices[kCount];
  MPI_Status statuses[kCount];
  if (how == 0) {
    MPI_Waitall(kCount, requests, statuses);
    for (int m = 0; m < kModes; ++m)
      EXPECT(statuses[m].MPI_TAG == m && statuses[m].MPI_SOURCE == (rank + ranks - 1) % ranks);
    EXPECT(statuses[kCount - 1].MPI_SOURCE == MPI_PROC_NULL);
    return;
  }
  for (; left > 0; left -= done) {
    done = 1;
    if (how == 1)
      MPI_Waitany(kCount, requests, &index, MPI_STATUS_IGNORE);
    else
      MPI_Waitsome(kCount, requests, &done, indices, MPI_STATUSES_IGNORE);
  }
  MPI_Waitany(kCount, requests, &index, MPI_STATUS_IGNORE);
  EXPECT(index == MPI_UNDEFINED); /* all are inactive */
}

static void AllModes(void) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  static char room[kInts * sizeof(int) * 2 + 2 * MPI_BSEND_OVERHEAD];
  MPI_Request requests[kCount];
  void* address;
  int size;
  MPI_Buffer_attach(room, sizeof room);
  for (int m = 0; m < kModes; ++m) {
    MPI_Recv_init(in[m], kInts, MPI_INT, left, m, MPI_COMM_WORLD, &requests[m]);
    inits[m](out[m], kInts, MPI_INT, right, m, MPI_COMM_WORLD, &requests[kModes + m]);
  }
  MPI_Send_init(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[kCount - 2]);
  MPI_Recv_init(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[kCount - 1]);
  for (int round = 0; round < kRounds; ++round) {
    for (int m = 0; m < kModes; ++m)
      for (int i = 0; i < kInts; ++i) {
        out[m][i] = rank * 1000000 + m * 100000 + round * 5000 + i;
        in[m][i] = -1;
      }
    MPI_Startall(kModes, requests); /* the receives first: one send is in ready mode */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(kCount - kModes, requests + kModes);
    Complete(requests, round % 3);
    for (int m = 0; m < kModes; ++m) {
      int wrong = 0;
      for (int i = 0; i < kInts; ++i)
        wrong += in[m][i] != left * 1000000 + m * 100000 + round * 5000 + i;
      EXPECT(wrong == 0);
    }
    for (int i = 0; i < kCount; ++i) EXPECT(requests[i] != MPI_REQUEST_NULL);
  }
  EXPECT(nothing == -5);
  for (int i = 0; i < kCount; ++i) {
    MPI_Request_free(&requests[i]);
    EXPECT(requests[i] == MPI_REQUEST_NULL);
  }
  MPI_Buffer_detach(&address, &size);
}

/* The same functions with counts of type MPI_Count. */
static void LargeForms(void) {
#if MPI_VERSION >= 4
  static char room[1000 + 2 * MPI_BSEND_OVERHEAD];
  int from[4] = {1, 2, 3, 4}, to[4] = {0, 0, 0, 0}, size;
  void* address;
  MPI_Request requests[8];
  MPI_Buffer_attach(room, sizeof room);
  for (int m = 0; m < 4; ++m)
    MPI_Recv_init_c(&to[m], 1, MPI_INT, rank, m, MPI_COMM_WORLD, &requests[m]);
  MPI_Send_init_c(&from[0], 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[4]);
  MPI_Bsend_init_c(&from[1], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[5]);
  MPI_Ssend_init_c(&from[2], 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[6]);
  MPI_Rsend_init_c(&from[3], 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &requests[7]);
  MPI_Startall(8, requests);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  for (int m = 0; m < 4; ++m) EXPECT(to[m] == m + 1);
  for (int i = 0; i < 8; ++i) MPI_Request_free(&requests[i]);
  MPI_Buffer_detach(&address, &size);
#endif
}

/* One call has messages, partitions and inactive requests. */
static void MixedKinds(void) {
#if MPI_VERSION >= 4
  int from[4] = {1, 2, 3, 4}, to[4] = {0, 0, 0, 0}, plain_from = 9, plain_to = 0;
  MPI_Request requests[4];
  MPI_Psend_init(from, 4, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Recv_init(&plain_to, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Precv_init(to, 4, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Send_init(&plain_from, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[3]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) from[i] = round * 10 + i;
    plain_from = round * 100;
    MPI_Startall(4, requests);
    MPI_Pready_range(0, 3, requests[0]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) EXPECT(to[i] == round * 10 + i);
    EXPECT(plain_to == round * 100);
  }
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
#endif
}

static void CancelledAndStartedAgain(void) {
  MPI_Request receive;
  MPI_Status status;
  int value = -1, sent = 8, cancelled = 0;
  MPI_Recv_init(&value, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &receive);
  for (int round = 0; round < 3; ++round) {
    MPI_Start(&receive);
    MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT(cancelled && receive != MPI_REQUEST_NULL && value == -1);
  }
  MPI_Start(&receive);
  MPI_Send(&sent, 1, MPI_INT, rank, 77, MPI_COMM_WORLD);
  MPI_Wait(&receive, &status);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(!cancelled && value == 8);
  MPI_Request_free(&receive);
}

static void FreedWhileActive(void) {
  MPI_Request receive, done;
  int value = -1, token = 1, sent = 21;
  MPI_Recv_init(&value, 1, MPI_INT, rank, 78, MPI_COMM_WORLD, &receive);
  MPI_Start(&receive);
  MPI_Request_free(&receive);
  EXPECT(receive == MPI_REQUEST_NULL);
  MPI_Irecv(&token, 1, MPI_INT, rank, 79, MPI_COMM_WORLD, &done);
  MPI_Send(&sent, 1, MPI_INT, rank, 78, MPI_COMM_WORLD);
  MPI_Send(&sent, 1, MPI_INT, rank, 79, MPI_COMM_WORLD);
  MPI_Wait(&done, MPI_STATUS_IGNORE); /* messages arrive in order */
  EXPECT(value == 21);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  AllModes();
  LargeForms();
  MixedKinds();
  CancelledAndStartedAgain();
  FreedWhileActive();
  return Passed();
}
