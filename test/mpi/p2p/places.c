/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a message arrives whole wherever in a page its two buffers lie: where the distance of
 *         both is one at which processors are slow, it is copied another way
 *         (runtime/memory/copy.h).
 * Method: short, longer and long messages from and to many places; what lies before and behind must
 *         stay.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kPage = 4096, kLongest = 300 * kPage, kRoom = kLongest + 3 * kPage };

static char *out, *in;

static char Byte(int i, int seed) { return (char)(i * 31 + i / 251 + seed); }

static void Exchange(int rank, int bytes, int from, int to, int seed) {
  char *const sent = out + kPage + from, *const received = in + kPage + to;
  int i, wrong = 0;
  for (i = 0; i < bytes; ++i) sent[i] = Byte(i, seed);
  memset(in, 0x55, (size_t)kRoom);
  if (rank == 0) MPI_Send(sent, bytes, MPI_BYTE, 1, seed, MPI_COMM_WORLD);
  if (rank == 0) return;
  MPI_Recv(received, bytes, MPI_BYTE, 0, seed, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (i = 0; i < bytes; ++i) wrong += received[i] != Byte(i, seed);
  for (i = 0; i < kPage + to; ++i) wrong += in[i] != 0x55;
  for (i = kPage + to + bytes; i < kRoom; ++i) wrong += in[i] != 0x55;
  EXPECT(wrong == 0);
}

int main(int argc, char** argv) {
  static const int sizes[] = {2048, 5000, 20000, 70001, kLongest};
  static const int places[] = {0, 1, 8, 16, 31, 63, 64, 2000};
  int rank, size, from, to, seed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = aligned_alloc(kPage, kRoom);
  in = aligned_alloc(kPage, kRoom);
  for (size = 0; size < 5; ++size)
    for (to = 0; to < 8; ++to)
      for (from = 0; from < 3; ++from)
        Exchange(rank, sizes[size], places[from * 3], places[to], ++seed);
  free(out);
  free(in);
  return Passed();
}
