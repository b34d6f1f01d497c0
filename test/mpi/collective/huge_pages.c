/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   buffers of long messages and collectives come into huge pages where they are moved often,
 *         and stay out of them where the user says so; either way the data is what it should be.
 * Method: each operation with buffers of its own, until 64 MiB have been moved within a huge page;
 *         then what /proc/self/smaps says of them. Argument 1: "some" or "none" are expected.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "test/mpi/check.h"

enum { kHuge = 2 << 20, kWords = 256 << 10, kCalls = 200, kCollapse = 25 /* MADV_COLLAPSE */ };
enum { kExchange, kBcast, kAllgather, kAlltoall, kReduce, kAllreduce, kOperations };

static int rank, size;

/* Room for `huge` huge pages, all of it there, between pages that belong to nobody. */
static int* Memory(int huge) {
  const size_t bytes = (size_t)huge * kHuge;
  char* map = mmap(NULL, bytes + 2 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(map != MAP_FAILED);
  map += kHuge - (uintptr_t)map % kHuge;
  EXPECT(mprotect(map, bytes, PROT_READ | PROT_WRITE) == 0);
  memset(map, 1, bytes);
  return (int*)map;
}

/* Kilobytes of the mapping of `data` that are in huge pages. */
static long Huge(const int* data) {
  char line[512];
  int ours = 0;
  long kilobytes = 0, value;
  FILE* maps = fopen("/proc/self/smaps", "r");
  EXPECT(maps != NULL);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long first, last;
    if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
      ours = first <= (uintptr_t)data && (uintptr_t)data < last;
    if (ours && sscanf(line, "AnonHugePages: %ld kB", &value) == 1) kilobytes += value;
  }
  fclose(maps);
  return kilobytes;
}

/* One call; blocks and vectors are of kWords. The word of rank r is 100 r + turn. */
static void Call(int operation, int turn, int* in, int* out) {
  const int mine = 100 * rank + turn, blocks = operation == kAlltoall ? size : 1;
  int i, r;
  for (i = 0; i < blocks * kWords; ++i) in[i] = mine;
  switch (operation) {
    case kExchange:
      MPI_Sendrecv(in, kWords, MPI_INT, (rank + 1) % size, 0, out, kWords, MPI_INT,
                   (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (i = 0; i < kWords; ++i) EXPECT(out[i] == 100 * ((rank + size - 1) % size) + turn);
      return;
    case kBcast:
      MPI_Bcast(in, kWords, MPI_INT, turn % size, MPI_COMM_WORLD);
      for (i = 0; i < kWords; ++i) EXPECT(in[i] == 100 * (turn % size) + turn);
      return;
    case kAllgather:
      MPI_Allgather(in, kWords, MPI_INT, out, kWords, MPI_INT, MPI_COMM_WORLD);
      break;
    case kAlltoall:
      MPI_Alltoall(in, kWords, MPI_INT, out, kWords, MPI_INT, MPI_COMM_WORLD);
      break;
    case kReduce:
      MPI_Reduce(in, rank == 0 ? out : NULL, kWords, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
      if (rank > 0) return;
      break;
    default:
      MPI_Allreduce(in, out, kWords, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (operation == kAllgather || operation == kAlltoall)
    for (r = 0; r < size; ++r)
      for (i = 0; i < kWords; ++i) EXPECT(out[r * kWords + i] == 100 * r + turn);
  else
    for (i = 0; i < kWords; ++i) EXPECT(out[i] == 100 * size * (size - 1) / 2 + size * turn);
}

/* Why the kernel makes none, whoever asks; NULL where it does. */
static const char* WhyNone(void) {
  char modes[64] = "";
  FILE* file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
  if (file == NULL || fgets(modes, sizeof modes, file) == NULL) return "this kernel has none";
  fclose(file);
  if (strstr(modes, "[never]") != NULL) return "they are switched off on this machine";
  if (strstr(modes, "[always]") != NULL) return "they are everywhere on this machine";
  return madvise(Memory(1), kHuge, kCollapse) == 0 ? NULL : strerror(errno);
}

int main(int argc, char** argv) {
  int operation, turn;
  const char* why;
  EXPECT(argc == 2);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  why = WhyNone();
  if (why != NULL && rank == 0) printf("SKIP: no huge pages are to be seen: %s\n", why);
  for (operation = 0; operation < kOperations && why == NULL; ++operation) {
    int* const in = Memory(size);
    int* const out = Memory(size);
    const int has_output = operation != kBcast && (operation != kReduce || rank == 0);
    for (turn = 0; turn < kCalls; ++turn) Call(operation, turn, in, out);
    EXPECT((Huge(in) > 0) == (strcmp(argv[1], "some") == 0));
    EXPECT((Huge(out) > 0) == (has_output && strcmp(argv[1], "some") == 0));
  }
  return Passed();
}
