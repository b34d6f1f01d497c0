/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   probe and matched probe find the message a receive would get, leave it or take it out,
 * and tell its source, tag and length (MPI-5.0, section 3.8); Sendrecv and Sendrecv_replace
 *         exchange without deadlock (section 3.10).
 * Method: rank 0 probes for messages of unknown length from everybody; neighbours exchange.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

static void UnknownLengths(int rank, int ranks) {
  enum { kRounds = 20 };
  static const int lengths[] = {1, 100, 3000, 50000};
  for (int round = 0; round < kRounds; ++round) {
    const int length = lengths[round % 4] + rank;
    if (rank != 0) {
      int* data = malloc((size_t)length * sizeof *data);
      for (int i = 0; i < length; ++i) data[i] = rank + i;
      MPI_Send(data, length, MPI_INT, 0, round, MPI_COMM_WORLD);
      free(data);
      continue;
    }
    for (int sender = 1; sender < ranks; ++sender) {
      MPI_Status status, again;
      MPI_Message message;
      int count, flag = 0;
      MPI_Probe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
      MPI_Iprobe(status.MPI_SOURCE, round, MPI_COMM_WORLD, &flag, &again);
      EXPECT(flag && again.MPI_SOURCE == status.MPI_SOURCE);
      MPI_Get_count(&status, MPI_INT, &count);
      EXPECT(count == lengths[round % 4] + status.MPI_SOURCE);
      int* data = malloc((size_t)count * sizeof *data);
      if (round % 2 == 0) {
        MPI_Recv(data, count, MPI_INT, status.MPI_SOURCE, round, MPI_COMM_WORLD, &again);
      } else {
        MPI_Mprobe(status.MPI_SOURCE, round, MPI_COMM_WORLD, &message, &again);
        MPI_Iprobe(status.MPI_SOURCE, round, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        EXPECT(!flag); /* taken out */
        MPI_Mrecv(data, count, MPI_INT, &message, &again);
        EXPECT(message == MPI_MESSAGE_NULL);
      }
      EXPECT(again.MPI_SOURCE == status.MPI_SOURCE);
      for (int i = 0; i < count; ++i)
        if (data[i] != status.MPI_SOURCE + i) {
          EXPECT(data[i] == status.MPI_SOURCE + i);
          break;
        }
      free(data);
    }
  }
}

static void Exchanges(int rank, int ranks) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  static double out[20000], in[20000];
  MPI_Status status;
  for (int i = 0; i < 20000; ++i) out[i] = rank + i * 0.5;
  MPI_Sendrecv(out, 20000, MPI_DOUBLE, right, 1, in, 20000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
               &status);
  EXPECT(status.MPI_SOURCE == left);
  EXPECT(in[0] == left && in[19999] == left + 19999 * 0.5);
  MPI_Sendrecv_replace(out, 20000, MPI_DOUBLE, right, 2, left, 2, MPI_COMM_WORLD, &status);
  EXPECT(memcmp(out, in, sizeof out) == 0);
}

int main(int argc, char** argv) {
  int rank, ranks, flag = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Iprobe(0, 12345, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  EXPECT(!flag);
  UnknownLengths(rank, ranks);
  Exchanges(rank, ranks);
  return Passed();
}
