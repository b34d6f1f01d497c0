/* SPDX-License-Identifier: BSD-3-Clause
 * Every collective in its three forms, chosen by `form`, so that one test serves all: blocking with
 * int counts, blocking with MPI_Count, non-blocking completed by alternating MPI_Wait and MPI_Test.
 */
#ifndef LAMINA_TEST_MPI_COLLECTIVE_CALLS_H
#define LAMINA_TEST_MPI_COLLECTIVE_CALLS_H

#include "test/mpi/check.h"

#include <mpi.h>

enum Form { kBlocking, kLarge, kNonBlocking, kForms };
static enum Form form = kBlocking;

static inline void Complete(MPI_Request* request) {
  static int turn = 0;
  int flag = 0;
  if (++turn % 2 == 0)
    MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  EXPECT(*request == MPI_REQUEST_NULL);
}

enum { kRanksMax = 64 };
struct Wide {
  MPI_Count counts[kRanksMax];
  MPI_Aint displacements[kRanksMax];
};
static inline struct Wide Widen(const int* counts, const int* displacements, int size) {
  struct Wide wide;
  int i;
  for (i = 0; i < size; ++i) {
    wide.counts[i] = counts != NULL ? counts[i] : 0;
    wide.displacements[i] = displacements != NULL ? displacements[i] : 0;
  }
  return wide;
}

#ifdef LAMINA_TEST_NO_LARGE /* for libraries that lack the large-count functions */
#define LARGE(call)
#else
#define LARGE(call) if (form == kLarge) { call; return; }
#endif
#define NON_BLOCKING(call) \
  if (form == kNonBlocking) { \
    MPI_Request request; \
    call; \
    Complete(&request); \
    return; \
  }

static inline int SizeOf(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

static inline void Barrier(MPI_Comm comm) {
  NON_BLOCKING(MPI_Ibarrier(comm, &request))
  MPI_Barrier(comm);
}
static inline void Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  LARGE(MPI_Bcast_c(buffer, count, type, root, comm))
  NON_BLOCKING(MPI_Ibcast(buffer, count, type, root, comm, &request))
  MPI_Bcast(buffer, count, type, root, comm);
}
static inline void Gather(const void* s, int sc, MPI_Datatype st, void* r, int rc, MPI_Datatype rt,
                          int root, MPI_Comm comm) {
  LARGE(MPI_Gather_c(s, sc, st, r, rc, rt, root, comm))
  NON_BLOCKING(MPI_Igather(s, sc, st, r, rc, rt, root, comm, &request))
  MPI_Gather(s, sc, st, r, rc, rt, root, comm);
}
static inline void Scatter(const void* s, int sc, MPI_Datatype st, void* r, int rc,
                           MPI_Datatype rt, int root, MPI_Comm comm) {
  LARGE(MPI_Scatter_c(s, sc, st, r, rc, rt, root, comm))
  NON_BLOCKING(MPI_Iscatter(s, sc, st, r, rc, rt, root, comm, &request))
  MPI_Scatter(s, sc, st, r, rc, rt, root, comm);
}
static inline void Allgather(const void* s, int sc, MPI_Datatype st, void* r, int rc,
                             MPI_Datatype rt, MPI_Comm comm) {
  LARGE(MPI_Allgather_c(s, sc, st, r, rc, rt, comm))
  NON_BLOCKING(MPI_Iallgather(s, sc, st, r, rc, rt, comm, &request))
  MPI_Allgather(s, sc, st, r, rc, rt, comm);
}
static inline void Alltoall(const void* s, int sc, MPI_Datatype st, void* r, int rc,
                            MPI_Datatype rt, MPI_Comm comm) {
  LARGE(MPI_Alltoall_c(s, sc, st, r, rc, rt, comm))
  NON_BLOCKING(MPI_Ialltoall(s, sc, st, r, rc, rt, comm, &request))
  MPI_Alltoall(s, sc, st, r, rc, rt, comm);
}
static inline void Gatherv(const void* s, int sc, MPI_Datatype st, void* r, const int* rc,
                           const int* d, MPI_Datatype rt, int root, MPI_Comm comm) {
  struct Wide wide = Widen(rc, d, SizeOf(comm));
  LARGE(MPI_Gatherv_c(s, sc, st, r, wide.counts, wide.displacements, rt, root, comm))
  NON_BLOCKING(MPI_Igatherv(s, sc, st, r, rc, d, rt, root, comm, &request))
  MPI_Gatherv(s, sc, st, r, rc, d, rt, root, comm);
}
static inline void Scatterv(const void* s, const int* sc, const int* d, MPI_Datatype st, void* r,
                            int rc, MPI_Datatype rt, int root, MPI_Comm comm) {
  struct Wide wide = Widen(sc, d, SizeOf(comm));
  LARGE(MPI_Scatterv_c(s, wide.counts, wide.displacements, st, r, rc, rt, root, comm))
  NON_BLOCKING(MPI_Iscatterv(s, sc, d, st, r, rc, rt, root, comm, &request))
  MPI_Scatterv(s, sc, d, st, r, rc, rt, root, comm);
}
static inline void Allgatherv(const void* s, int sc, MPI_Datatype st, void* r, const int* rc,
                              const int* d, MPI_Datatype rt, MPI_Comm comm) {
  struct Wide wide = Widen(rc, d, SizeOf(comm));
  LARGE(MPI_Allgatherv_c(s, sc, st, r, wide.counts, wide.displacements, rt, comm))
  NON_BLOCKING(MPI_Iallgatherv(s, sc, st, r, rc, d, rt, comm, &request))
  MPI_Allgatherv(s, sc, st, r, rc, d, rt, comm);
}
static inline void Alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* r,
                             const int* rc, const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  struct Wide send = Widen(sc, sd, SizeOf(comm));
  struct Wide receive = Widen(rc, rd, SizeOf(comm));
  LARGE(MPI_Alltoallv_c(s, send.counts, send.displacements, st, r, receive.counts,
                        receive.displacements, rt, comm))
  NON_BLOCKING(MPI_Ialltoallv(s, sc, sd, st, r, rc, rd, rt, comm, &request))
  MPI_Alltoallv(s, sc, sd, st, r, rc, rd, rt, comm);
}
static inline void Alltoallw(const void* s, const int* sc, const int* sd, const MPI_Datatype* st,
                             void* r, const int* rc, const int* rd, const MPI_Datatype* rt,
                             MPI_Comm comm) {
  struct Wide send = Widen(sc, sd, SizeOf(comm));
  struct Wide receive = Widen(rc, rd, SizeOf(comm));
  LARGE(MPI_Alltoallw_c(s, send.counts, send.displacements, st, r, receive.counts,
                        receive.displacements, rt, comm))
  NON_BLOCKING(MPI_Ialltoallw(s, sc, sd, st, r, rc, rd, rt, comm, &request))
  MPI_Alltoallw(s, sc, sd, st, r, rc, rd, rt, comm);
}
static inline void Reduce(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op, int root,
                          MPI_Comm comm) {
  LARGE(MPI_Reduce_c(s, r, count, type, op, root, comm))
  NON_BLOCKING(MPI_Ireduce(s, r, count, type, op, root, comm, &request))
  MPI_Reduce(s, r, count, type, op, root, comm);
}
static inline void Allreduce(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  LARGE(MPI_Allreduce_c(s, r, count, type, op, comm))
  NON_BLOCKING(MPI_Iallreduce(s, r, count, type, op, comm, &request))
  MPI_Allreduce(s, r, count, type, op, comm);
}
static inline void Scan(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm) {
  LARGE(MPI_Scan_c(s, r, count, type, op, comm))
  NON_BLOCKING(MPI_Iscan(s, r, count, type, op, comm, &request))
  MPI_Scan(s, r, count, type, op, comm);
}
static inline void Exscan(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm) {
  LARGE(MPI_Exscan_c(s, r, count, type, op, comm))
  NON_BLOCKING(MPI_Iexscan(s, r, count, type, op, comm, &request))
  MPI_Exscan(s, r, count, type, op, comm);
}
static inline void ReduceScatterBlock(const void* s, void* r, int count, MPI_Datatype type,
                                      MPI_Op op, MPI_Comm comm) {
  LARGE(MPI_Reduce_scatter_block_c(s, r, count, type, op, comm))
  NON_BLOCKING(MPI_Ireduce_scatter_block(s, r, count, type, op, comm, &request))
  MPI_Reduce_scatter_block(s, r, count, type, op, comm);
}
static inline void ReduceScatter(const void* s, void* r, const int* counts, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm) {
  struct Wide wide = Widen(counts, NULL, SizeOf(comm));
  LARGE(MPI_Reduce_scatter_c(s, r, wide.counts, type, op, comm))
  NON_BLOCKING(MPI_Ireduce_scatter(s, r, counts, type, op, comm, &request))
  MPI_Reduce_scatter(s, r, counts, type, op, comm);
}

#endif
