/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a partitioned transfer brings every partition to its place, round after round, for any
 *         two numbers of partitions whose data is as long, for types with holes, for all three ways
 *         to mark partitions, with MPI_PROC_NULL, and in the order of initialisation (MPI-5.0,
 *         chapter 4).
 * Method: rings and transfers to oneself; sender and receiver split the same data differently.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kElements = 240 };

static int rank, ranks;

static int ValueAt(int sender, int round, int i) { return sender * 100000 + round * 1000 + i; }

static void MarkAll(MPI_Request request, int partitions, int how) {
  if (how == 0) {
    for (int p = partitions - 1; p >= 0; --p) MPI_Pready(p, request);
  } else if (how == 1) {
    MPI_Pready_range(0, partitions - 1, request);
  } else {
    int* list = malloc((size_t)partitions * sizeof *list);
    for (int p = 0; p < partitions; ++p) list[p] = (p * 7 + 3) % partitions;
    if (partitions % 7 == 0)
      for (int p = 0; p < partitions; ++p) list[p] = p;
    MPI_Pready_list(partitions, list, request);
    free(list);
  }
}

static void Ring(int send_partitions, int receive_partitions, int scale) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  const int elements = kElements * scale;
  int* out = calloc((size_t)elements, sizeof *out);
  int* in = calloc((size_t)elements, sizeof *in);
  MPI_Request both[2];
  MPI_Status statuses[2];
  MPI_Psend_init(out, send_partitions, elements / send_partitions, MPI_INT, right, 4,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Precv_init(in, receive_partitions, elements / receive_partitions, MPI_INT, left, 4,
                 MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int round = 0; round < 6; ++round) {
    int count = -1, wrong = 0;
    for (int i = 0; i < elements; ++i) {
      out[i] = ValueAt(rank, round, i);
      in[i] = -1;
    }
    MPI_Startall(2, both);
    MarkAll(both[0], send_partitions, round % 3);
    MPI_Waitall(2, both, statuses);
    EXPECT(both[0] != MPI_REQUEST_NULL && both[1] != MPI_REQUEST_NULL);
    EXPECT(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == 4);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    EXPECT(count == elements);
    for (int i = 0; i < elements; ++i) wrong += in[i] != ValueAt(left, round, i);
    EXPECT(wrong == 0);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  EXPECT(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL);
  free(in);
  free(out);
}

/* One side's type has holes; partitions end within the elements of the other's. */
static void TypesWithHoles(int send_holes, int receive_holes, int send_partitions,
                           int receive_partitions) {
  enum { kPairs = 60 }; /* two ints, then a hole of one */
  static int out[3 * kPairs], in[3 * kPairs];
  MPI_Datatype pair;
  MPI_Request both[2];
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair); /* int, hole, int: 12 bytes of extent */
  MPI_Type_commit(&pair);
  const int send_count = send_holes ? kPairs : 2 * kPairs;
  const int receive_count = receive_holes ? kPairs : 2 * kPairs;
  MPI_Psend_init(out, send_partitions, send_count / send_partitions, send_holes ? pair : MPI_INT,
                 rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Precv_init(in, receive_partitions, receive_count / receive_partitions,
                 receive_holes ? pair : MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  MPI_Type_free(&pair); /* the requests keep it */
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3 * kPairs; ++i) {
      out[i] = ValueAt(rank, round, i);
      in[i] = -1;
    }
    MPI_Startall(2, both);
    MPI_Pready_range(0, send_partitions - 1, both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * kPairs; ++i) {
      const int from = send_holes ? i / 2 * 3 + i % 2 * 2 : i;
      const int to = receive_holes ? i / 2 * 3 + i % 2 * 2 : i;
      EXPECT(in[to] == ValueAt(rank, round, from));
    }
    if (receive_holes)
      for (int i = 0; i < kPairs; ++i) EXPECT(in[3 * i + 1] == -1);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

/* Two transfers with the same envelope match in the order in which both sides have initialised
 * them, whatever the order in which they start. Other messages do not match them. */
static void OrderOfInitialisation(void) {
  int out[2] = {-1, -1}, in[2] = {-1, -1}, plain_out = 77, plain_in = -1;
  MPI_Request sends[2], receives[2], plain;
  for (int i = 0; i < 2; ++i)
    MPI_Psend_init(&out[i], 1, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
  for (int i = 0; i < 2; ++i)
    MPI_Precv_init(&in[i], 1, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
  MPI_Irecv(&plain_in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &plain);
  out[0] = 10;
  out[1] = 11;
  for (int i = 1; i >= 0; --i) {
    MPI_Start(&sends[i]);
    MPI_Pready(0, sends[i]);
  }
  MPI_Startall(2, receives);
  MPI_Waitall(2, receives, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
  EXPECT(in[0] == 10 && in[1] == 11);
  MPI_Send(&plain_out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
  MPI_Wait(&plain, MPI_STATUS_IGNORE);
  EXPECT(plain_in == 77);
  for (int i = 0; i < 2; ++i) {
    MPI_Request_free(&sends[i]);
    MPI_Request_free(&receives[i]);
  }
}

static void NullProcess(void) {
  int value = 5, flag = 0;
  MPI_Request send, receive;
  MPI_Status status;
  MPI_Psend_init(&value, 2, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&send);
    MPI_Start(&receive);
    MPI_Pready_range(0, 1, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Parrived(receive, 0, &flag);
    EXPECT(flag);
    MPI_Wait(&receive, &status);
    EXPECT(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && value == 5);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

static void NoBytes(void) {
  MPI_Request send, receive;
  MPI_Psend_init(NULL, 3, 0, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(NULL, 2, 0, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Start(&receive);
  MPI_Start(&send);
  MPI_Pready_range(0, 2, send);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

/* A receive that is never matched can be freed, and so can a request that was never started. */
static void NeverStarted(void) {
  int value = 0;
  MPI_Request send, receive;
  MPI_Precv_init(&value, 1, 1, MPI_INT, rank, 31, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Request_free(&receive);
  MPI_Psend_init(&value, 1, 1, MPI_INT, rank, 32, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(&value, 1, 1, MPI_INT, rank, 32, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Ring(1, 1, 1);
  Ring(8, 8, 1);
  Ring(3, 8, 1);
  Ring(16, 5, 1);
  Ring(240, 1, 1);
  Ring(8, 3, 1000); /* beyond what goes at once */
  TypesWithHoles(1, 1, 4, 4);
  TypesWithHoles(1, 0, 4, 6);
  TypesWithHoles(0, 1, 6, 4);
  TypesWithHoles(0, 1, 24, 5); /* five ints a message: ends within a pair */
  OrderOfInitialisation();
  NullProcess();
  NoBytes();
  NeverStarted();
  return Passed();
}
