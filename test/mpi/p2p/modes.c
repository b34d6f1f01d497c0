/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every send mode, blocking, non-blocking and persistent, delivers every size intact
 * between every pair of ranks, self included (MPI-5.0, sections 3.2 to 3.9). Method: each rank
 * sends a pattern to each rank, whose bytes tell sender, size and position; sizes lie around the
 * protocol boundaries.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

static const int sizes[] = {0, 1, 8, 39, 40, 41, 255, 4095, 8192, 8193, 16384, 65537, 300000};
enum { kSizes = sizeof sizes / sizeof sizes[0], kBytesMax = 300000 };

static unsigned char PatternAt(int sender, int size, int i) {
  return (unsigned char)(sender * 31 + size * 7 + i * 13 + (i >> 8));
}

static void Fill(unsigned char* data, int sender, int size) {
  for (int i = 0; i < size; ++i) data[i] = PatternAt(sender, size, i);
}

static int IsIntact(const unsigned char* data, int sender, int size) {
  for (int i = 0; i < size; ++i)
    if (data[i] != PatternAt(sender, size, i)) return 0;
  return data[size] == 0xee; /* nothing written behind the end */
}

typedef int (*BlockingSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*StartSend)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static const BlockingSend blocking[] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
static const StartSend immediate[] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
static const StartSend persistent[] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init,
                                       MPI_Rsend_init};

/* The receive is posted before the send, so ready mode is allowed and self-messages cannot block.
 */
static void Exchange(int mode, int flavour, int size, int to, int from, unsigned char* out,
                     unsigned char* in) {
  int rank, count;
  MPI_Request receive, send = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Fill(out, rank, size);
  memset(in, 0xee, (size_t)size + 1);
  MPI_Irecv(in, size, MPI_BYTE, from, 7, MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  if (flavour == 0) {
    blocking[mode](out, size, MPI_BYTE, to, 7, MPI_COMM_WORLD);
  } else {
    (flavour == 1 ? immediate : persistent)[mode](out, size, MPI_BYTE, to, 7, MPI_COMM_WORLD,
                                                  &send);
    if (flavour == 2) MPI_Start(&send);
  }
  MPI_Wait(&receive, &status);
  EXPECT(receive == MPI_REQUEST_NULL);
  EXPECT(status.MPI_SOURCE == from && status.MPI_TAG == 7);
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT(count == size);
  EXPECT(IsIntact(in, from, size));
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  if (flavour == 2) {
    EXPECT(send != MPI_REQUEST_NULL);
    MPI_Request_free(&send);
  }
  EXPECT(send == MPI_REQUEST_NULL);
}

int main(int argc, char** argv) {
  int rank, ranks;
  unsigned char* out = malloc(kBytesMax + 1);
  unsigned char* in = malloc(kBytesMax + 1);
  int room = kBytesMax * 2 + MPI_BSEND_OVERHEAD;
  void* attached = malloc((size_t)room);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Buffer_attach(attached, room);
  for (int mode = 0; mode < 4; ++mode)
    for (int flavour = 0; flavour < 3; ++flavour)
      for (int s = 0; s < kSizes; ++s)
        for (int shift = 0; shift < ranks; ++shift) {
          const int to = (rank + shift) % ranks;
          const int from = (rank + ranks - shift) % ranks;
          /* A synchronous self-send completes only once its receive has: post it first, as here. */
          Exchange(mode, flavour, sizes[s], to, from, out, in);
        }
  MPI_Buffer_detach(&attached, &room);
  EXPECT(room == kBytesMax * 2 + MPI_BSEND_OVERHEAD);
  free(attached);
  free(in);
  free(out);
  return Passed();
}
