/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: there is no limit on communicators: 100,000 are made and freed one after the other, 10,000
 * held at once, all of them apart from each other (MPI-5.0, section 7.4.2).
 */
#include <stdlib.h>

#include "test/mpi/check.h"

int main(int argc, char** argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 100000,
            held_count = argc > 2 ? atoi(argv[2]) : 10000;
  MPI_Comm one, *held = malloc((size_t)held_count * sizeof *held);
  MPI_Request* requests = malloc((size_t)held_count * sizeof *requests);
  int *sent = malloc((size_t)held_count * sizeof *sent), i, size, rank, in;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < turns; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    if (i % 1000 == 0) {
      in = -1;
      MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size,
                   0, one, MPI_STATUS_IGNORE);
      EXPECT(in == i);
    }
    MPI_Comm_free(&one);
  }
  for (i = 0; i < held_count; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &held[i]);
  /* All messages are on their way before the first is received, in the other order. */
  for (i = 0; i < held_count; ++i) {
    sent[i] = i;
    MPI_Isend(&sent[i], 1, MPI_INT, (rank + 1) % size, 0, held[i], &requests[i]);
  }
  for (i = held_count - 1; i >= 0; --i) {
    in = -1;
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, held[i], MPI_STATUS_IGNORE);
    EXPECT(in == i);
  }
  MPI_Waitall(held_count, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < held_count; ++i) MPI_Comm_free(&held[i]);
  free(sent), free(requests), free(held);
  return Passed();
}
