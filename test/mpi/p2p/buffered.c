/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   buffered sends return whether or not they are received, as long as the attached buffer
 *         has room; detach and flush wait until the messages have left; MPI_BUFFER_AUTOMATIC
 *         never runs out; a communicator's buffer goes before the process's (MPI-5.0, section
 *         3.6).
 * Method: long messages to oneself and to the neighbour that are received only after the sends have
 *         returned; flushes that must not complete before; too little room; every detach tells
 *         what was attached.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kInts = 50000, kBytes = kInts * (int)sizeof(int) }; /* beyond what goes at once */

static int rank, ranks;
static int out[kInts], in[kInts];

static void Fill(int seed) {
  for (int i = 0; i < kInts; ++i) out[i] = rank * 7 + seed + i;
}
static void ExpectFrom(int source, int seed) {
  for (int i = 0; i < kInts; ++i)
    if (in[i] != source * 7 + seed + i) {
      EXPECT(in[i] == source * 7 + seed + i);
      return;
    }
}

static void ProcessBuffer(void) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  const int room = 3 * (kBytes + MPI_BSEND_OVERHEAD);
  char* memory = malloc((size_t)room);
  void* address = NULL;
  int size = -1;
  EXPECT(MPI_Buffer_attach(memory, room) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Buffer_attach(memory, room)) == MPI_ERR_BUFFER);
  for (int i = 0; i < 3; ++i) {
    Fill(i);
    MPI_Bsend(out, kInts, MPI_INT, right, i, MPI_COMM_WORLD);
  }
  Fill(1000); /* the data was copied */
  for (int i = 2; i >= 0; --i) {
    MPI_Recv(in, kInts, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ExpectFrom(left, i);
  }
  MPI_Buffer_detach(&address, &size);
  EXPECT(address == memory && size == room);

  /* The room is used and given back many times over. */
  MPI_Buffer_attach(memory, room);
  for (int round = 0; round < 20; ++round) {
    MPI_Request request;
    Fill(round);
    if (round % 2 == 0) {
      MPI_Ibsend(out, kInts, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Bsend_init(out, kInts, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
    }
    MPI_Recv(in, kInts, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ExpectFrom(left, round);
  }
  MPI_Buffer_detach(&address, &size);
  free(memory);
}

static void TooLittleRoom(void) {
  static char memory[2 * kBytes];
  void* address;
  int size;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT(ClassOf(MPI_Bsend(out, kInts, MPI_INT, rank, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  MPI_Buffer_attach(memory, 1000);
  EXPECT(ClassOf(MPI_Bsend(out, kInts, MPI_INT, rank, 1, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(MPI_Ibsend(out, kInts, MPI_INT, rank, 1, MPI_COMM_WORLD, &request)) ==
         MPI_ERR_BUFFER);
  MPI_Buffer_detach(&address, &size);
  EXPECT(address == memory && size == 1000);
  MPI_Buffer_attach(memory, kBytes + MPI_BSEND_OVERHEAD); /* one, not two */
  Fill(3);
  MPI_Bsend(out, kInts, MPI_INT, rank, 1, MPI_COMM_WORLD);
  EXPECT(ClassOf(MPI_Bsend(out, kInts, MPI_INT, rank, 2, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  MPI_Recv(in, kInts, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ExpectFrom(rank, 3);
  MPI_Buffer_detach(&address, &size);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)

static void DetachOfNothing(void) {
  void* address = out;
  int size = -1;
  MPI_Count size_c = -1;
  /* This is as if a buffer of no bytes were attached. */
  EXPECT(MPI_Buffer_detach(&address, &size) == MPI_SUCCESS && size == 0);
  EXPECT(MPI_Buffer_detach_c(&address, &size_c) == MPI_SUCCESS && size_c == 0);
  EXPECT(MPI_Buffer_flush() == MPI_SUCCESS);
  EXPECT(MPI_Comm_flush_buffer(MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &address, &size) == MPI_SUCCESS && size == 0);
  EXPECT(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &address, &size_c) == MPI_SUCCESS && size_c == 0);
}

/* Makes progress and tells whether the request is complete. */
static int IsComplete(MPI_Request request) {
  int flag = 0;
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  return flag;
}

static void AutomaticAndFlush(void) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  enum { kMessages = 10 };
  MPI_Request flush, later, empty;
  void* address = NULL;
  MPI_Count size = -1;
  EXPECT(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 12345) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 0)) == MPI_ERR_BUFFER);
  MPI_Buffer_iflush(&empty);
  EXPECT(empty != MPI_REQUEST_NULL && IsComplete(empty)); /* nothing is in it */
  MPI_Wait(&empty, MPI_STATUS_IGNORE);
  for (int i = 0; i < kMessages; ++i) {
    Fill(i);
    MPI_Bsend_c(out, kInts, MPI_INT, right, i, MPI_COMM_WORLD);
  }
  MPI_Buffer_iflush(&flush);
  Fill(kMessages);
  MPI_Bsend(out, kInts, MPI_INT, right, kMessages, MPI_COMM_WORLD);
  MPI_Buffer_iflush(&later);
  MPI_Barrier(MPI_COMM_WORLD); /* no receive comes before this */
  EXPECT(!IsComplete(flush) && !IsComplete(later));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kMessages; ++i) {
    MPI_Recv(in, kInts, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ExpectFrom(left, i);
  }
  MPI_Wait(&flush, MPI_STATUS_IGNORE); /* although a later message is still there */
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(!IsComplete(later));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(in, kInts, MPI_INT, left, kMessages, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ExpectFrom(left, kMessages);
  MPI_Buffer_flush();
  MPI_Wait(&later, MPI_STATUS_IGNORE);
  MPI_Buffer_detach_c(&address, &size);
  EXPECT(address == MPI_BUFFER_AUTOMATIC);
}

static void CommunicatorBuffer(void) {
  static char small[64], memory[kBytes + MPI_BSEND_OVERHEAD];
  void* address = NULL;
  int size = -1;
  MPI_Count size_c = -1;
  MPI_Comm comm, other;
  MPI_Request flush;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  EXPECT(MPI_Comm_attach_buffer(comm, small, sizeof small) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Comm_attach_buffer(comm, memory, sizeof memory)) == MPI_ERR_BUFFER);
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  /* The process's buffer would do, but the communicator's goes first and is too small. */
  EXPECT(ClassOf(MPI_Bsend(out, kInts, MPI_INT, rank, 1, comm)) == MPI_ERR_BUFFER);
  Fill(1);
  EXPECT(MPI_Bsend(out, kInts, MPI_INT, rank, 1, other) == MPI_SUCCESS);
  MPI_Comm_detach_buffer(comm, &address, &size);
  EXPECT(address == small && size == (int)sizeof small);
  Fill(2);
  EXPECT(MPI_Bsend(out, kInts, MPI_INT, rank, 1, comm) == MPI_SUCCESS); /* the process's */
  MPI_Recv(in, kInts, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
  ExpectFrom(rank, 2);
  MPI_Recv(in, kInts, MPI_INT, rank, 1, other, MPI_STATUS_IGNORE);
  ExpectFrom(rank, 1);
  MPI_Buffer_detach(&address, &size);
  EXPECT(address == MPI_BUFFER_AUTOMATIC);

  MPI_Comm_attach_buffer_c(comm, memory, sizeof memory);
  EXPECT(ClassOf(MPI_Bsend(out, kInts, MPI_INT, rank, 1, other)) == MPI_ERR_BUFFER);
  Fill(4);
  MPI_Bsend(out, kInts, MPI_INT, rank, 1, comm);
  MPI_Comm_iflush_buffer(comm, &flush);
  EXPECT(!IsComplete(flush));
  MPI_Recv(in, kInts, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
  ExpectFrom(rank, 4);
  MPI_Wait(&flush, MPI_STATUS_IGNORE);
  MPI_Comm_flush_buffer(comm);
  MPI_Comm_detach_buffer_c(comm, &address, &size_c);
  EXPECT(address == memory && size_c == (MPI_Count)sizeof memory);

  /* A buffered message outlives the handles of its communicator and its request. */
  MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
  MPI_Request receive;
  MPI_Irecv(in, kInts, MPI_INT, rank, 9, comm, &receive);
  Fill(5);
  MPI_Bsend(out, kInts, MPI_INT, rank, 9, comm);
  MPI_Comm_free(&comm);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  ExpectFrom(rank, 5);
  MPI_Comm_free(&other);
}

static void BadArguments(void) {
  static char memory[8];
  void* address;
  int size;
  MPI_Count size_c;
  MPI_Request request;
  EXPECT(ClassOf(MPI_Buffer_attach(memory, -1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Buffer_attach_c(memory, -1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Buffer_attach(NULL, 8)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(MPI_Buffer_detach(NULL, &size)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Buffer_detach_c(&address, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Buffer_iflush(NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_attach_buffer(MPI_COMM_NULL, memory, 8)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_attach_buffer(MPI_COMM_WORLD, memory, -8)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_attach_buffer_c(MPI_COMM_NULL, memory, 8)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_detach_buffer(MPI_COMM_NULL, &address, &size)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_detach_buffer_c(MPI_COMM_NULL, &address, &size_c)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_flush_buffer(MPI_COMM_NULL)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_iflush_buffer(MPI_COMM_NULL, &request)) == MPI_ERR_COMM);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  ProcessBuffer();
  TooLittleRoom();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
  DetachOfNothing();
  AutomaticAndFlush();
  CommunicatorBuffer();
  BadArguments();
#endif
  return Passed();
}
