/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a send that is cancelled ends: it is cancelled and not seen by the receiver, or it is
 *         received (MPI-5.0, section 3.8.4).
 * Method: short and long ones, synchronous and not, that nobody has matched, that somebody has, and
 *         that wait for room.
 */
#include "test/mpi/check.h"

enum { kLong = 40000, kMany = 2000, kWords = 256 };
/* A long message lies in one piece, which a transport may borrow, or is scattered. */
enum { kShort, kScattered, kWhole, kKinds };

static int rank, ranks, peer, bounded, out[2 * kLong], in[2 * kLong];
static MPI_Datatype spread; /* every second word of `out` or `in`, kLong of them */

static int EndsCancelled(MPI_Request* request) {
  MPI_Status status;
  int cancelled = -1;
  EXPECT(MPI_Cancel(request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(request, &status) == MPI_SUCCESS && *request == MPI_REQUEST_NULL);
  MPI_Test_cancelled(&status, &cancelled);
  return cancelled;
}

static MPI_Request Start(int kind, int value) {
  MPI_Request request;
  out[0] = value;
  if (kind == kScattered)
    MPI_Isend(out, 1, spread, peer, 1, MPI_COMM_WORLD, &request);
  else if (kind == kWhole)
    MPI_Isend(out, kLong, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  else
    MPI_Issend(out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
  return request;
}

static void Unmatched(int kind) {
  MPI_Request request = Start(kind, 1);
  int i;
  for (i = 0; i < 3; ++i) {
    EXPECT(EndsCancelled(&request));
    request = Start(kind, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD); /* no rank receives while others take back */
  MPI_Recv(in, kind == kWhole ? kLong : 1, kind == kScattered ? spread : MPI_INT, peer, 1,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void Matched(int kind) {
  MPI_Request receive, request;
  MPI_Irecv(in, kind == kWhole ? kLong : 1, kind == kScattered ? spread : MPI_INT, peer, 1,
            MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  request = Start(kind, 3);
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
  EXPECT(peer == rank || !bounded || cancelled > 0);
  MPI_Sendrecv(&cancelled, 1, MPI_INT, peer, 3, &theirs, 1, MPI_INT, peer, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (i = 0; i < kMany - theirs; ++i)
    MPI_Recv(in, kWords, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(peer, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  EXPECT(!there);
}

/* The receiver has the message and finalizes without having received it. The send ends: it is
 * cancelled, or the message has been thrown away with the receiver's communicator before. */
static void Leaving(void) {
  MPI_Request request;
  int word = 0;
  if (rank > peer) {
    MPI_Recv(&word, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  request = Start(kWhole, 5);
  MPI_Send(&word, 1, MPI_INT, peer, 4, MPI_COMM_WORLD);
  EXPECT(EndsCancelled(&request) >= 0);
}

int main(int argc, char** argv) {
  int kind;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  bounded = argc < 2; /* the transport takes no more than the receiver has room for */
  peer = (rank ^ 1) < ranks ? rank ^ 1 : rank;
  MPI_Type_vector(kLong, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  for (kind = 0; kind < kKinds; ++kind) {
    Unmatched(kind);
    Matched(kind);
  }
  Waiting();
  if (peer != rank) Leaving();
  MPI_Type_free(&spread);
  return Passed();
}
