/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a non-blocking collective never matches a blocking one, even where ranks start the two in
 *         different orders: results are right and nobody waits for ever (MPI-5.0, 6.12).
 * Method: each rank in turn starts its non-blocking call before the blocking one, and all others
 *         after it. Both orders end, and both calls give what they should.
 */
#include "test/mpi/check.h"

enum { kRounds = 20 };

int main(int argc, char** argv) {
  int rank, size, round, i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (round = 0; round < kRounds; ++round) {
    const int first = round % size, root = (round + 1) % size;
    int in = rank + round, sum = -1, told = rank == root ? 1000 + round : -1, expected = 0;
    int all[64], own = 7 * rank + round;
    MPI_Request request;
    if (rank == first) MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (round % 2 == 0)
      MPI_Bcast(&told, 1, MPI_INT, root, MPI_COMM_WORLD);
    else
      MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank != first) MPI_Iallreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (i = 0; i < size; ++i) {
      expected += i + round;
      if (round % 2 != 0) EXPECT(all[i] == 7 * i + round);
    }
    EXPECT(sum == expected);
    if (round % 2 == 0) EXPECT(told == 1000 + round);
  }
  return Passed();
}
