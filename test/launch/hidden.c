// SPDX-License-Identifier: BSD-3-Clause
// Short and long messages between all pairs of ranks, all collectives, and windows, with every
// element checked. Before that the ranks do what hides a process from its peers.
//
// usage: hidden [undumpable | user | closed | shared]...
//   undumpable   before MPI_Init: nobody may open the process's memory
//   user         after MPI_Init, before any message: odd ranks go on as another user
//   shared       there is memory that all ranks share
//   closed       before MPI_Init the standard descriptors are closed, afterwards opened anew
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { kNobody = 65534, kCountMax = 200000 };

static int rank, size, failures;

static void Check(const int *data, int count, int first, int step, const char *what) {
  for (int i = 0; i < count; ++i)
    if (data[i] != first + i * step) {
      if (failures++ < 5)
        fprintf(stderr, "rank %d: %s of %d elements: element %d is %d\n", rank, what, count, i,
                data[i]);
      return;
    }
}

static void Fill(int *data, int count, int first) {
  for (int i = 0; i < count; ++i) data[i] = first + i;
}

static void Messages(int *out, int *in, int count) {
  for (int distance = 1; distance < size; ++distance) {
    const int to = (rank + distance) % size, from = (rank + size - distance) % size;
    Fill(out, count, rank * 1000 + distance);
    memset(in, 0xff, (size_t)count * sizeof *in);
    MPI_Sendrecv(out, count, MPI_INT, to, 1, in, count, MPI_INT, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    Check(in, count, from * 1000 + distance, 1, "message");
  }
}

// `out` and `in` have room for `count` elements of each rank.
static void Collectives(int *out, int *in, int count) {
  int counts[64], places[64];
  for (int r = 0; r < size; ++r) {
    counts[r] = count;
    places[r] = r * count;
  }
  const int ranks = size * (size - 1) / 2;  // the sum of all ranks
  for (int root = 0; root < size; root += size - 1) {
    Fill(in, count, rank == root ? 7 : 0);
    MPI_Bcast(in, count, MPI_INT, root, MPI_COMM_WORLD);
    Check(in, count, 7, 1, "bcast");
    Fill(out, count, rank);
    MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root) Check(in, count, ranks, size, "reduce");
    Fill(out, count, rank * count);
    MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
    if (rank == root) Check(in, size * count, 0, 1, "gather");
    MPI_Gatherv(out, count, MPI_INT, in, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    if (rank == root) Check(in, size * count, 0, 1, "gatherv");
    Fill(out, size * count, 0);
    MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
    Check(in, count, rank * count, 1, "scatter");
    MPI_Scatterv(out, counts, places, MPI_INT, in, count, MPI_INT, root, MPI_COMM_WORLD);
    Check(in, count, rank * count, 1, "scatterv");
  }
  Fill(out, count, rank);
  MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Check(in, count, ranks, size, "allreduce");
  MPI_Scan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Check(in, count, rank * (rank + 1) / 2, rank + 1, "scan");
  MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank > 0) Check(in, count, rank * (rank - 1) / 2, rank, "exscan");
  Fill(out, count, rank * count);
  MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  Check(in, size * count, 0, 1, "allgather");
  MPI_Allgatherv(out, count, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  Check(in, size * count, 0, 1, "allgatherv");
  MPI_Request request;
  MPI_Iallgather(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  Check(in, size * count, 0, 1, "iallgather");
  for (int r = 0; r < size; ++r) Fill(out + r * count, count, (r + rank) * count);
  MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
  Check(in, size * count, rank * count, 1, "alltoall");
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  Check(in, size * count, rank * count, 1, "alltoallv");
  Fill(out, size * count, 0);
  MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Check(in, count, size * rank * count, size, "reduce_scatter_block");
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Check(in, count, size * rank * count, size, "reduce_scatter");
  MPI_Barrier(MPI_COMM_WORLD);
}

// `out` is given to a window, whose memory others then reach by whatever way is left to them.
static void Windows(int *out, int count) {
  for (int allocated = 0; allocated < 2; ++allocated) {
    int *base = out, sum = 0;
    const MPI_Aint bytes = count * (MPI_Aint)sizeof *out;
    const int next = (rank + 1) % size, one = 1;
    MPI_Win win;
    if (allocated)
      MPI_Win_allocate(bytes, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
      MPI_Win_create(out, bytes, sizeof *out, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    Fill(base, count, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int target = 0; target < size; ++target) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win);
      MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Get(&sum, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_unlock(next, win);
    Check(&sum, 1, size, 0, "sum");
    MPI_Win_free(&win);
  }
}

// Memory can be shared wherever the launcher's is at hand.
static void SharedMemory(void) {
  int *base, *theirs, unit;
  MPI_Aint bytes;
  MPI_Win win;
  MPI_Win_allocate_shared(sizeof *base, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = rank + 5;
  MPI_Win_fence(0, win);
  MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &theirs);
  Check(theirs, 1, (rank + 1) % size + 5, 0, "shared memory");
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static int Has(int argc, char **argv, const char *word) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

int main(int argc, char **argv) {
  const int kept = dup(STDOUT_FILENO), closed = Has(argc, argv, "closed");
  if (Has(argc, argv, "undumpable")) prctl(PR_SET_DUMPABLE, 0);
  for (int fd = 0; closed && fd < 3; ++fd) close(fd);
  MPI_Init(&argc, &argv);
  for (int fd = 0; closed && fd < 3; ++fd)
    if (open("/dev/null", O_RDWR) != fd) return 2;  // the library sits on it
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (Has(argc, argv, "user") && rank % 2 == 1)
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) return 3;
  int *const out = malloc((size_t)size * kCountMax * sizeof *out);
  int *const in = malloc((size_t)size * kCountMax * sizeof *in);
  for (int count = 1; count <= kCountMax; count = count < 1000 ? 1000 : count * 200)
    for (int again = 0; again < 2; ++again) {
      Messages(out, in, count);
      Collectives(out, in, count);
    }
  Windows(out, kCountMax);
  if (Has(argc, argv, "shared")) SharedMemory();
  free(out);
  free(in);
  MPI_Finalize();
  if (rank == 0 && failures == 0) dprintf(kept, "all was right\n");
  return failures != 0;
}
