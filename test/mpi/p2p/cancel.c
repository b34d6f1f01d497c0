/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a send that is cancelled ends: it is cancelled and not seen by the receiver, or it is
 *         received (MPI-5.0, section 3.8.4).
 * Method: short and long ones, synchronous and not, that nobody has matched, that somebody has, and
 *         that wait for room.
 */
#include "test/mpi/check.h"

enum { kLong = 40000, kMany = 2000, kWords = 256 };

static int rank, ranks, peer, out[2 * kLong], in[2 * kLong];
static MPI_Datatype spread; /* every second word of `out` or `in`, kLong of them */

static int EndsCancelled(MPI_Request* request) {
  MPI_Status status;
  int cancelled = -1;
  EXPECT(MPI_Cancel(request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(request, &status) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
  MPI_Test_cancelled(&status, &cancelled);
  return cancelled;
}

static MPI_Request Start(int is_long, int value) {
  MPI_Request request;
  out[0] = value;
  if (is_long)
    MPI_Isend(out, 1, spread, peer, 1, MPI_COMM_WORLD, &request);
  else
    MPI_Issend(out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  return request;
}

static void Unmatched(int is_long) {
  MPI_Request request = Start(is_long, 1);
  int i;
  for (i = 0; i < 3; ++i) {
    EXPECT(EndsCancelled(&request));
    request = Start(is_long, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* no rank receives while others take back */
  MPI_Recv(in, 1, is_long ? spread : MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void Matched(int is_long) {
  MPI_Request receive, request;
  MPI_Irecv(in, 1, is_long ? spread : MPI_INT, peer, 1, MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  request = Start(is_long, 3);
  EXPECT(!EndsCancelled(&request));
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 3);
}

/* These are more than there is room for, so that the last ones have not left. */
static void Waiting(void) {
  static int words[kWords];
  static MPI_Request requests[kMany];
  int i, cancelled = 0, theirs, there;
  for (i = 0; i < kMany; ++i)
    MPI_Isend(words, kWords, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[i]);
  for (i = kMany - 1; i >= 0; --i)
    if (i % 3 != 0) cancelled += EndsCancelled(&requests[i]);
  EXPECT(peer == rank || cancelled > 0);
  MPI_Sendrecv(&cancelled, 1, MPI_INT, peer, 3, &theirs, 1, MPI_INT, peer, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (i = 0; i < kMany - theirs; ++i)
    MPI_Recv(in, kWords, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(peer, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  EXPECT(!there);
}

int main(int argc, char** argv) {
  int is_long;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  peer = (rank ^ 1) < ranks ? rank ^ 1 : rank;
  MPI_Type_vector(kLong, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  for (is_long = 0; is_long < 2; ++is_long) {
    Unmatched(is_long);
    Matched(is_long);
  }
  Waiting();
  MPI_Type_free(&spread);
  return Passed();
}
