/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   messages between two ranks are received in the order they were sent, whatever their size
 *         and whether receives name the source, the tag, both or neither (MPI-5.0, section 3.5).
 * Method: every rank floods rank 0 with numbered messages of mixed sizes; rank 0 receives with
 *         changing wildcards and checks that each sender's numbers of a tag rise.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kMessages = 400, kTags = 3, kBytesMax = 40000 };

static int SizeOf(int number) {
  static const int sizes[] = {4, 4, 64, 4, 9000, 4, 40000, 16};
  return sizes[number % 8];
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char* buffer = malloc(kBytesMax);
  if (rank != 0) {
    MPI_Request* requests = malloc(kMessages * sizeof *requests);
    char* data = malloc((size_t)kMessages * kBytesMax);
    for (int i = 0; i < kMessages; ++i) {
      memcpy(data + (size_t)i * kBytesMax, &i, sizeof i);
      MPI_Isend(data + (size_t)i * kBytesMax, SizeOf(i), MPI_BYTE, 0, i % kTags, MPI_COMM_WORLD,
                &requests[i]);
    }
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    free(data);
    free(requests);
  } else {
    int* next = calloc((size_t)ranks * kTags, sizeof *next); /* by sender and tag */
    int* left = malloc((size_t)ranks * kTags * sizeof *left);
    for (int r = 0; r < ranks; ++r)
      for (int t = 0; t < kTags; ++t) {
        next[r * kTags + t] = t;
        left[r * kTags + t] = (kMessages - t + kTags - 1) / kTags;
      }
    for (int received = 0; received < kMessages * (ranks - 1); ++received) {
      MPI_Status status;
      int source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG, number, count;
      if (received % 4 == 1 || received % 4 == 3) { /* name a source that still has something */
        int r = 1;
        while (r < ranks - 1 && left[r * kTags] + left[r * kTags + 1] + left[r * kTags + 2] == 0)
          ++r;
        source = r;
        if (received % 4 == 3) {
          tag = 0;
          while (tag < kTags - 1 && left[r * kTags + tag] == 0) ++tag;
        }
      }
      MPI_Recv(buffer, kBytesMax, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status);
      memcpy(&number, buffer, sizeof number);
      MPI_Get_count(&status, MPI_BYTE, &count);
      EXPECT(source == MPI_ANY_SOURCE || status.MPI_SOURCE == source);
      EXPECT(number == next[status.MPI_SOURCE * kTags + status.MPI_TAG]);
      EXPECT(count == SizeOf(number));
      next[status.MPI_SOURCE * kTags + status.MPI_TAG] = number + kTags;
      --left[status.MPI_SOURCE * kTags + status.MPI_TAG];
    }
    free(left);
    free(next);
  }
  free(buffer);
  return Passed();
}
