/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every function of point-to-point communication tells bad arguments by their class and
 *         then does nothing (MPI-5.0, chapter 3 and section 9.3).
 * Method: MPI_ERRORS_RETURN; each function gets each kind of bad argument its parameters allow.
 */
#include "test/mpi/check.h"

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*SendLarge)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Start)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*StartLarge)(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Receive)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*ReceiveLarge)(void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static int ranks, value;
static MPI_Request request, untouched;

/* Only collectives take it. Implementations with another ABI follow it. */
#ifdef MPI_ABI_VERSION
#define IN_PLACE MPI_IN_PLACE
#else
#define IN_PLACE NULL
#endif

/* Makes `call` with one bad argument after the other. `last` is what follows the communicator. */
#define EACH(call, last)                                                                      \
  do {                                                                                        \
    request = untouched;                                                                      \
    EXPECT(ClassOf(call(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD last)) == MPI_ERR_COUNT);   \
    EXPECT(ClassOf(call(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD last)) ==          \
           MPI_ERR_TYPE);                                                                     \
    EXPECT(ClassOf(call(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD last)) == MPI_ERR_RANK); \
    EXPECT(ClassOf(call(&value, 1, MPI_INT, -99, 0, MPI_COMM_WORLD last)) == MPI_ERR_RANK);   \
    EXPECT(ClassOf(call(&value, 1, MPI_INT, 0, -99, MPI_COMM_WORLD last)) == MPI_ERR_TAG);    \
    EXPECT(ClassOf(call(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL last)) == MPI_ERR_COMM);      \
    EXPECT(ClassOf(call(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD last)) == MPI_ERR_BUFFER);     \
    EXPECT(ClassOf(call(IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_WORLD last)) == MPI_ERR_BUFFER); \
    EXPECT(request == untouched);                                                             \
  } while (0)
#define COMMA_REQUEST , &request
#define COMMA_STATUS , MPI_STATUS_IGNORE
#define NOTHING

static void Sends(void) {
  static const Send sends[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
  static const Start starts[] = {MPI_Isend,     MPI_Ibsend,     MPI_Issend,     MPI_Irsend,
                                 MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
  for (int i = 0; i < 4; ++i) EACH(sends[i], NOTHING);
  for (int i = 0; i < 8; ++i) EACH(starts[i], COMMA_REQUEST);
#if MPI_VERSION >= 4
  static const SendLarge large[] = {MPI_Send_c, MPI_Bsend_c, MPI_Ssend_c, MPI_Rsend_c};
  static const StartLarge starts_large[] = {MPI_Isend_c,      MPI_Ibsend_c,    MPI_Issend_c,
                                            MPI_Irsend_c,     MPI_Send_init_c, MPI_Bsend_init_c,
                                            MPI_Ssend_init_c, MPI_Rsend_init_c};
  for (int i = 0; i < 4; ++i) EACH(large[i], NOTHING);
  for (int i = 0; i < 8; ++i) EACH(starts_large[i], COMMA_REQUEST);
#endif
}

static void Receives(void) {
  static const Receive starts[] = {MPI_Irecv, MPI_Recv_init};
  EACH(MPI_Recv, COMMA_STATUS);
  for (int i = 0; i < 2; ++i) EACH(starts[i], COMMA_REQUEST);
#if MPI_VERSION >= 4
  static const ReceiveLarge large[] = {MPI_Irecv_c, MPI_Recv_init_c};
  EACH(MPI_Recv_c, COMMA_STATUS);
  for (int i = 0; i < 2; ++i) EACH(large[i], COMMA_REQUEST);
#endif
}

/* Functions that send and receive check both halves. */
static void Exchanges(void) {
  int in = -1;
  const MPI_Comm comm = MPI_COMM_WORLD;
#define SENDING(buffer, count, type, dest, tag, communicator, last) \
  MPI_Sendrecv(buffer, count, type, dest, tag, &in, 1, MPI_INT, 0, 0, communicator last)
  EXPECT(ClassOf(SENDING(&value, -1, MPI_INT, 0, 0, comm, COMMA_STATUS)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(SENDING(&value, 1, MPI_INT, ranks, 0, comm, COMMA_STATUS)) == MPI_ERR_RANK);
  EXPECT(ClassOf(SENDING(&value, 1, MPI_INT, 0, -9, comm, COMMA_STATUS)) == MPI_ERR_TAG);
  EXPECT(ClassOf(SENDING(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, COMMA_STATUS)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &in, -1, MPI_INT, 0, 0, comm,
                              MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, ranks, 0, comm,
                              MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Sendrecv_replace(&value, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, comm,
                                      MPI_STATUS_IGNORE)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, ranks, 0, comm,
                                      MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
#if MPI_VERSION >= 4
  request = untouched;
  EXPECT(ClassOf(MPI_Sendrecv_c(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, -9, comm,
                                MPI_STATUS_IGNORE)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Sendrecv_replace_c(&value, -1, MPI_INT, 0, 0, 0, 0, comm,
                                        MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Isendrecv(&value, 1, MPI_INT, ranks, 0, &in, 1, MPI_INT, 0, 0, comm,
                               &request)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Isendrecv(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_NULL,
                               &request)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Isendrecv_c(&value, 1, MPI_INT, 0, 0, &in, -1, MPI_INT, 0, 0, comm,
                                 &request)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Isendrecv_replace(&value, 1, MPI_INT, 0, -9, 0, 0, comm, &request)) ==
         MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Isendrecv_replace_c(&value, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, comm,
                                         &request)) == MPI_ERR_TYPE);
  EXPECT(request == untouched);
#endif
}

static void Requests(void) {
  MPI_Request freed, persistent, list[2];
  MPI_Status status, statuses[2];
  int flag = 7, index = 7, count = 7, indices[2];
  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &persistent);
  freed = persistent;
  EXPECT(ClassOf(MPI_Cancel(&persistent)) == MPI_ERR_REQUEST); /* inactive */
  MPI_Start(&persistent);
  EXPECT(ClassOf(MPI_Start(&persistent)) == MPI_ERR_REQUEST); /* active */
  EXPECT(ClassOf(MPI_Startall(1, &persistent)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Startall(-1, &persistent)) == MPI_ERR_ARG);
  MPI_Cancel(&persistent);
  MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  MPI_Request_free(&persistent);
  persistent = MPI_REQUEST_NULL;
  EXPECT(ClassOf(MPI_Request_free(&persistent)) == MPI_ERR_REQUEST);
  list[0] = MPI_REQUEST_NULL;
  list[1] = freed;
  EXPECT(ClassOf(MPI_Start(&freed)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Wait(&freed, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Test(&freed, &flag, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Waitall(2, list, statuses)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Testall(2, list, &flag, statuses)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Waitany(2, list, &index, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Testany(2, list, &index, &flag, &status)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Waitsome(2, list, &count, indices, statuses)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Testsome(2, list, &count, indices, statuses)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Waitall(-1, list, statuses)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Waitsome(-1, list, &count, indices, statuses)) == MPI_ERR_ARG);
  EXPECT(flag == 7 && index == 7 && count == 7);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  flag = 0;
  MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  if (!flag) { /* active: a collective may be neither freed nor cancelled */
    MPI_Request copy = request;
    EXPECT(ClassOf(MPI_Cancel(&request)) == MPI_ERR_REQUEST && request == copy);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &untouched);
  Sends();
  Receives();
  Exchanges();
  Requests();
  MPI_Request_free(&untouched);
  return Passed();
}
