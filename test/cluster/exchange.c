/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every rank reaches every other with short and long messages, whatever carries them.
 * Method: pairwise exchanges of 8 bytes, 5000 bytes and 1 MiB with patterns, then an allreduce.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

int main(int argc, char** argv) {
  static const int sizes[] = {8, 5000, 1 << 20};
  int rank, ranks, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT(ranks > 1);
  unsigned char* out = malloc(1 << 20);
  unsigned char* in = malloc(1 << 20);
  for (int s = 0; s < 3; ++s)
    for (int shift = 1; shift < ranks; ++shift) {
      const int to = (rank + shift) % ranks, from = (rank + ranks - shift) % ranks;
      int wrong = 0;
      memset(out, rank + s, (size_t)sizes[s]);
      MPI_Sendrecv(out, sizes[s], MPI_BYTE, to, s, in, sizes[s], MPI_BYTE, from, s, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      for (int i = 0; i < sizes[s]; ++i) wrong += in[i] != from + s;
      EXPECT(wrong == 0);
    }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == ranks * (ranks - 1) / 2);
  free(in);
  free(out);
  return Passed();
}
