/* SPDX-License-Identifier: BSD-3-Clause
 * Every collective in its six forms, chosen by `form`, so that one test serves all: blocking,
 * non-blocking and persistent, each with int and with MPI_Count. Requests are completed by
 * alternating MPI_Wait and MPI_Test. Each function gives the first error.
 */
#ifndef LAMINA_TEST_MPI_COLLECTIVE_CALLS_H
#define LAMINA_TEST_MPI_COLLECTIVE_CALLS_H

#include <mpi.h>

#include "test/mpi/check.h"

#ifdef LAMINA_TEST_NO_LARGE /* for libraries that have neither large counts nor persistent ones */
enum Form { kBlocking, kNonBlocking, kForms };
#else
enum Form {
  kBlocking,
  kNonBlocking,
  kLarge,
  kNonBlockingLarge,
  kPersistent,
  kPersistentLarge,
  kForms
};
#endif
static enum Form form = kBlocking;

static inline int Complete(MPI_Request* request) {
  static int turn = 0;
  int error = MPI_SUCCESS, flag = 0;
#ifndef LAMINA_TEST_NO_LARGE
  const int persistent = form == kPersistent || form == kPersistentLarge;
  if (persistent && (error = MPI_Start(request)) != MPI_SUCCESS) return error;
#endif
  if (++turn % 2 == 0)
    error = MPI_Wait(request, MPI_STATUS_IGNORE);
  else
    while (!flag && error == MPI_SUCCESS) error = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
#ifndef LAMINA_TEST_NO_LARGE
  if (persistent) {
    EXPECT(*request != MPI_REQUEST_NULL);
    MPI_Request_free(request);
  }
#endif
  EXPECT(*request == MPI_REQUEST_NULL);
  return error;
}

enum { kRanksMax = 64 };
struct Wide {
  MPI_Count counts[kRanksMax];
  MPI_Aint displacements[kRanksMax];
};
static inline struct Wide Widen(const int* counts, const int* displacements, int size) {
  struct Wide wide = {{0}, {0}};
  int i;
  for (i = 0; i < size; ++i) {
    wide.counts[i] = counts != NULL ? counts[i] : 0;
    wide.displacements[i] = displacements != NULL ? displacements[i] : 0;
  }
  return wide;
}

/* `small` and `large` are the arguments in parentheses. */
#define UNWRAP(...) __VA_ARGS__
#ifdef LAMINA_TEST_NO_LARGE
#define IN_FORM(blocking, nonblocking, persistent, small, large) \
  MPI_Request request = MPI_REQUEST_NULL;                        \
  int error;                                                     \
  if (form == kBlocking) return blocking small;                  \
  error = nonblocking(UNWRAP small, &request);                   \
  return error != MPI_SUCCESS ? error : Complete(&request);
#else
#define IN_FORM(blocking, nonblocking, persistent, small, large)     \
  MPI_Request request = MPI_REQUEST_NULL;                            \
  int error = MPI_SUCCESS;                                           \
  switch (form) {                                                    \
    case kBlocking:                                                  \
      return blocking small;                                         \
    case kLarge:                                                     \
      return blocking##_c large;                                     \
    case kNonBlocking:                                               \
      error = nonblocking(UNWRAP small, &request);                   \
      break;                                                         \
    case kNonBlockingLarge:                                          \
      error = nonblocking##_c(UNWRAP large, &request);               \
      break;                                                         \
    case kPersistent:                                                \
      error = persistent(UNWRAP small, MPI_INFO_NULL, &request);     \
      break;                                                         \
    default:                                                         \
      error = persistent##_c(UNWRAP large, MPI_INFO_NULL, &request); \
  }                                                                  \
  return error != MPI_SUCCESS ? error : Complete(&request);
#endif

/* Returns how many blocks there are; on an intercommunicator it is those of the other group. */
static inline int SizeOf(MPI_Comm comm) {
  int size = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return 0;
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    MPI_Comm_remote_size(comm, &size);
  else
    MPI_Comm_size(comm, &size);
  return size;
}

static inline int Barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error;
  if (form == kBlocking) return MPI_Barrier(comm);
#ifndef LAMINA_TEST_NO_LARGE
  if (form == kLarge) return MPI_Barrier(comm);
  if (form == kPersistent || form == kPersistentLarge)
    error = MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
  else
#endif
    error = MPI_Ibarrier(comm, &request);
  return error != MPI_SUCCESS ? error : Complete(&request);
}
static inline int Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  IN_FORM(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, (buffer, count, type, root, comm),
          (buffer, count, type, root, comm))
}
static inline int Gather(const void* s, int sc, MPI_Datatype st, void* r, int rc, MPI_Datatype rt,
                         int root, MPI_Comm comm) {
  IN_FORM(MPI_Gather, MPI_Igather, MPI_Gather_init, (s, sc, st, r, rc, rt, root, comm),
          (s, sc, st, r, rc, rt, root, comm))
}
static inline int Scatter(const void* s, int sc, MPI_Datatype st, void* r, int rc, MPI_Datatype rt,
                          int root, MPI_Comm comm) {
  IN_FORM(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, (s, sc, st, r, rc, rt, root, comm),
          (s, sc, st, r, rc, rt, root, comm))
}
static inline int Allgather(const void* s, int sc, MPI_Datatype st, void* r, int rc,
                            MPI_Datatype rt, MPI_Comm comm) {
  IN_FORM(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, (s, sc, st, r, rc, rt, comm),
          (s, sc, st, r, rc, rt, comm))
}
static inline int Alltoall(const void* s, int sc, MPI_Datatype st, void* r, int rc, MPI_Datatype rt,
                           MPI_Comm comm) {
  IN_FORM(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, (s, sc, st, r, rc, rt, comm),
          (s, sc, st, r, rc, rt, comm))
}
static inline int Gatherv(const void* s, int sc, MPI_Datatype st, void* r, const int* rc,
                          const int* d, MPI_Datatype rt, int root, MPI_Comm comm) {
  struct Wide wide = Widen(rc, d, SizeOf(comm));
  IN_FORM(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, (s, sc, st, r, rc, d, rt, root, comm),
          (s, sc, st, r, rc == NULL ? NULL : wide.counts, d == NULL ? NULL : wide.displacements, rt,
           root, comm))
}
static inline int Scatterv(const void* s, const int* sc, const int* d, MPI_Datatype st, void* r,
                           int rc, MPI_Datatype rt, int root, MPI_Comm comm) {
  struct Wide wide = Widen(sc, d, SizeOf(comm));
  IN_FORM(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, (s, sc, d, st, r, rc, rt, root, comm),
          (s, sc == NULL ? NULL : wide.counts, d == NULL ? NULL : wide.displacements, st, r, rc, rt,
           root, comm))
}
static inline int Allgatherv(const void* s, int sc, MPI_Datatype st, void* r, const int* rc,
                             const int* d, MPI_Datatype rt, MPI_Comm comm) {
  struct Wide wide = Widen(rc, d, SizeOf(comm));
  IN_FORM(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, (s, sc, st, r, rc, d, rt, comm),
          (s, sc, st, r, rc == NULL ? NULL : wide.counts, wide.displacements, rt, comm))
}
static inline int Alltoallv(const void* s, const int* sc, const int* sd, MPI_Datatype st, void* r,
                            const int* rc, const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  struct Wide send = Widen(sc, sd, SizeOf(comm));
  struct Wide receive = Widen(rc, rd, SizeOf(comm));
  IN_FORM(
      MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, (s, sc, sd, st, r, rc, rd, rt, comm),
      (s, send.counts, send.displacements, st, r, receive.counts, receive.displacements, rt, comm))
}
static inline int Alltoallw(const void* s, const int* sc, const int* sd, const MPI_Datatype* st,
                            void* r, const int* rc, const int* rd, const MPI_Datatype* rt,
                            MPI_Comm comm) {
  struct Wide send = Widen(sc, sd, SizeOf(comm));
  struct Wide receive = Widen(rc, rd, SizeOf(comm));
  IN_FORM(
      MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, (s, sc, sd, st, r, rc, rd, rt, comm),
      (s, send.counts, send.displacements, st, r, receive.counts, receive.displacements, rt, comm))
}
static inline int Reduce(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op, int root,
                         MPI_Comm comm) {
  IN_FORM(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, (s, r, count, type, op, root, comm),
          (s, r, count, type, op, root, comm))
}
static inline int Allreduce(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm) {
  IN_FORM(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, (s, r, count, type, op, comm),
          (s, r, count, type, op, comm))
}
static inline int Scan(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  IN_FORM(MPI_Scan, MPI_Iscan, MPI_Scan_init, (s, r, count, type, op, comm),
          (s, r, count, type, op, comm))
}
static inline int Exscan(const void* s, void* r, int count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  IN_FORM(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, (s, r, count, type, op, comm),
          (s, r, count, type, op, comm))
}
static inline int ReduceScatterBlock(const void* s, void* r, int count, MPI_Datatype type,
                                     MPI_Op op, MPI_Comm comm) {
  IN_FORM(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
          (s, r, count, type, op, comm), (s, r, count, type, op, comm))
}
static inline int ReduceScatter(const void* s, void* r, const int* counts, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) {
  int size;
  struct Wide wide;
  size = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
  wide = Widen(counts, NULL, size);
  IN_FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init,
          (s, r, counts, type, op, comm),
          (s, r, counts == NULL ? NULL : wide.counts, type, op, comm))
}

#endif
