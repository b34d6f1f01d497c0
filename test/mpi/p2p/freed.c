/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a send whose request was freed, and a buffered one, arrive although their sender has
 *         called MPI_Finalize; what nobody ever receives keeps nobody in MPI_Finalize.
 * Method: rank 0 sends messages of all kinds, frees the requests and finalizes at once, while rank
 *         1 does nothing for a while before it receives them. With the argument "unreceived" both
 *         send, and nobody receives.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <time.h>

#include "test/mpi/check.h"

enum { kWays = 5 };
static const int kSizes[] = {8, 3000, 12000, 40000, 3000000};
enum { kSizesCount = sizeof kSizes / sizeof kSizes[0], kMax = 3000000 };

static unsigned char out[kMax], in[kMax];

static unsigned char ByteAt(int i, int tag) { return (unsigned char)(i * 7 + tag); }

/* The memory of a send has to stay as it is, so each has its own bytes of `out`. */
static void Send(int way, const void* bytes, int count, int to, int tag) {
  MPI_Request request;
  MPI_Datatype every_other;
  switch (way) {
    case 0:
      MPI_Isend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
      break;
    case 1:
      MPI_Issend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
      break;
    case 2:
      MPI_Type_vector(count / 4, 1, 2, MPI_SHORT, &every_other);
      MPI_Type_commit(&every_other);
      MPI_Isend(bytes, 1, every_other, to, tag, MPI_COMM_WORLD, &request);
      MPI_Type_free(&every_other);
      break;
    case 3:
      MPI_Send_init(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      break;
    default:
      MPI_Bsend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
      return;
  }
  MPI_Request_free(&request);
}

static void Receive(int way, int count, int tag) {
  MPI_Status status;
  int got = 0, right = 1;
  MPI_Recv(in, count, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &got);
  if (way != 2) EXPECT(got == count);
  if (way == 2) EXPECT(got == count / 4 * 2);
  for (int i = 0; i < got; ++i) {
    const int from = way == 2 ? i / 2 * 4 + i % 2 : i;
    right = right && in[i] == ByteAt(from, 0);
  }
  EXPECT(right);
}

int main(int argc, char** argv) {
  int rank, room = 0;
  const int unreceived = argc > 1 && strcmp(argv[1], "unreceived") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kMax; ++i) out[i] = ByteAt(i, 0);
  for (int i = 0; i < kSizesCount; ++i) room += kSizes[i] + MPI_BSEND_OVERHEAD;
  void* const buffer = malloc((size_t)room);
  MPI_Buffer_attach(buffer, room);
  if (rank == 0 || unreceived) {
    for (int way = 0; way < kWays; ++way)
      for (int i = 0; i < kSizesCount; ++i) Send(way, out, kSizes[i], 1 - rank, way * 10 + i);
  } else {
    const struct timespec while_0_finalizes = {0, 300000000};
    nanosleep(&while_0_finalizes, NULL); /* tidy: sleep: the test holds, whoever is first */
    for (int way = kWays - 1; way >= 0; --way)
      for (int i = 0; i < kSizesCount; ++i) Receive(way, kSizes[i], way * 10 + i);
  }
  const int status = Passed();
  free(buffer);
  return status;
}
