/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   MPI_Finalize does not wait for its limit where messages went one way only.
 * Method: each rank sends to the next and receives from the one before, all leave at once, under a
 *         limit that is longer than the test may take.
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int rank, ranks, before;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int from = (rank + ranks - 1) % ranks;
  for (int round = 0; round < 2 * ranks; ++round) {
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &before, 1, MPI_INT, from, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(before == from);
  }
  return Passed();
}
