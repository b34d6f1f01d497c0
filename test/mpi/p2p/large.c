/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   messages above 2^31 and 2^32 bytes arrive whole and are counted right, with counts of
 * type MPI_Count and with int counts of big datatypes, contiguous or not (MPI-5.0, sections 3.2.1
 *         and 3.2.6).
 * Method: 3 GiB and a little to the neighbour, and 4 GiB and a little if asked for; words that tell
 *         their place are looked at along the whole length.
 *         usage: large BYTES_IN_MIB...
 */
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank;
static unsigned char* data;

static const long long kStep = 64 * 1024;

static void FillData(long long bytes, int seed) {
  for (long long at = 0; at + 8 <= bytes; at += kStep) {
    const long long word = at * 31 + seed;
    memcpy(data + at, &word, sizeof word);
  }
  data[bytes - 1] = (unsigned char)seed;
}

static void ExpectData(long long bytes, int seed) {
  for (long long at = 0; at + 8 <= bytes; at += kStep) {
    long long word;
    memcpy(&word, data + at, sizeof word);
    if (word != at * 31 + seed) {
      EXPECT(word == at * 31 + seed);
      return;
    }
  }
  EXPECT(data[bytes - 1] == (unsigned char)seed);
}

static void WithLargeCounts(long long bytes, int seed) {
  MPI_Status status;
  MPI_Count count = -1;
  int small = -1;
  if (rank == 0) {
    FillData(bytes, seed);
    MPI_Send_c(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv_c(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    EXPECT(count == bytes);
    MPI_Get_count(&status, MPI_BYTE, &small);
    EXPECT(small == MPI_UNDEFINED);
    ExpectData(bytes, seed);
  }
}

/* One element is 1 MiB. */
static void WithBigTypes(int mebibytes, int seed) {
  const long long bytes = ((long long)mebibytes << 20);
  MPI_Datatype mebibyte;
  MPI_Status status;
  int count = -1;
  MPI_Type_contiguous(1 << 20, MPI_BYTE, &mebibyte);
  MPI_Type_commit(&mebibyte);
  if (rank == 0) {
    MPI_Request request;
    FillData(bytes, seed);
    MPI_Isend(data, mebibytes, mebibyte, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Count size = -1;
    MPI_Probe(0, 2, MPI_COMM_WORLD, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &size);
    EXPECT(size == bytes);
    MPI_Recv(data, mebibytes, mebibyte, 0, 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, mebibyte, &count);
    EXPECT(count == mebibytes);
    ExpectData(bytes, seed);
  }
  MPI_Type_free(&mebibyte);
}

/* All but the last KiB of every 64 KiB is sent and lands in the same places. */
static void WithHoles(int mebibytes, int seed) {
  const long long bytes = ((long long)mebibytes << 20);
  const int blocks = mebibytes * 16;
  MPI_Datatype type;
  MPI_Type_create_hvector(blocks, 63 * 1024, 64 * 1024, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  if (rank == 0) {
    FillData(bytes, seed);
    MPI_Send(data, 1, type, 1, 3, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Count size = -1;
    const unsigned char last = data[bytes - 1];
    MPI_Recv(data, 1, type, 0, 3, MPI_COMM_WORLD, &status);
    MPI_Get_elements_x(&status, MPI_BYTE, &size);
    EXPECT(size == (MPI_Count)blocks * 63 * 1024);
    EXPECT(data[bytes - 1] == last); /* in a hole */
    data[bytes - 1] = (unsigned char)seed;
    ExpectData(bytes, seed);
  }
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    const int mebibytes = atoi(argv[i]);
    const long long bytes = ((long long)mebibytes << 20) + 5;
    data = rank < 2 ? malloc((size_t)bytes) : NULL;
    if (rank < 2 && data == NULL) {
      fprintf(stderr, "large: no memory for %lld bytes\n", bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 1) memset(data, 0, (size_t)bytes);
    WithLargeCounts(bytes, 11 + i);
    WithBigTypes(mebibytes, 12 + i);
    WithHoles(mebibytes, 13 + i);
    free(data);
  }
  return Passed();
}
