/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   neighbourhood collectives bring the k-th block to the k-th neighbour on grids, graphs and
 *         distributed graphs; in periodic dimensions of one and two processes what leaves in one
 *         direction arrives from the other; edges that come twice keep their order; nothing is
 *         written for neighbours that are not there (MPI-5.0, sections 8.6 to 8.8).
 * Method: every operation, blocking, non-blocking and persistent, with int and with MPI_Count, with
 *         data that names the sender and its block; compared with shifts along the dimensions, and
 *         with lists of edges that all processes know.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

#ifdef LAMINA_TEST_NO_LARGE
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
static enum Form form;

static int Complete(MPI_Request* request) {
  int error = MPI_SUCCESS;
#ifndef LAMINA_TEST_NO_LARGE
  if (form == kPersistent || form == kPersistentLarge) {
    if ((error = MPI_Start(request)) == MPI_SUCCESS) error = MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Request_free(request);
    return error;
  }
#endif
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}

#define UNWRAP(...) __VA_ARGS__
#ifdef LAMINA_TEST_NO_LARGE
#define IN_FORM(name, small, large)                        \
  MPI_Request request;                                     \
  int error;                                               \
  if (form == kBlocking) return MPI_Neighbor_##name small; \
  error = MPI_Ineighbor_##name(UNWRAP small, &request);    \
  return error != MPI_SUCCESS ? error : Complete(&request);
#else
#define IN_FORM(name, small, large)                                                \
  MPI_Request request;                                                             \
  int error;                                                                       \
  switch (form) {                                                                  \
    case kBlocking:                                                                \
      return MPI_Neighbor_##name small;                                            \
    case kLarge:                                                                   \
      return MPI_Neighbor_##name##_c large;                                        \
    case kNonBlocking:                                                             \
      error = MPI_Ineighbor_##name(UNWRAP small, &request);                        \
      break;                                                                       \
    case kNonBlockingLarge:                                                        \
      error = MPI_Ineighbor_##name##_c(UNWRAP large, &request);                    \
      break;                                                                       \
    case kPersistent:                                                              \
      error = MPI_Neighbor_##name##_init(UNWRAP small, MPI_INFO_NULL, &request);   \
      break;                                                                       \
    default:                                                                       \
      error = MPI_Neighbor_##name##_init_c(UNWRAP large, MPI_INFO_NULL, &request); \
  }                                                                                \
  return error != MPI_SUCCESS ? error : Complete(&request);
#endif

enum { kMax = 64, kBlock = 3 };
struct Wide {
  MPI_Count counts[kMax];
  MPI_Aint places[kMax];
};
static struct Wide Widen(const int* counts, const int* places, int n) {
  struct Wide wide;
  int i;
  for (i = 0; i < n; ++i) {
    wide.counts[i] = counts[i];
    wide.places[i] = places[i];
  }
  return wide;
}

static int rank, size;

/* The lists of this process. */
struct Neighbourhood {
  MPI_Comm comm;
  int in, out, sources[kMax], destinations[kMax];
  int origin[kMax]; /* which block of its source arrives as block i */
};

static int Allgather(const void* s, int sc, void* r, int rc, MPI_Datatype type, MPI_Comm comm) {
  IN_FORM(allgather, (s, sc, type, r, rc, type, comm), (s, sc, type, r, rc, type, comm))
}
static int Allgatherv(const void* s, int sc, void* r, const int* rc, const int* rp, int in,
                      MPI_Comm comm) {
  struct Wide to = Widen(rc, rp, in);
  IN_FORM(allgatherv, (s, sc, MPI_INT, r, rc, rp, MPI_INT, comm),
          (s, sc, MPI_INT, r, to.counts, to.places, MPI_INT, comm))
}
static int Alltoall(const void* s, int sc, void* r, int rc, MPI_Datatype type, MPI_Comm comm) {
  IN_FORM(alltoall, (s, sc, type, r, rc, type, comm), (s, sc, type, r, rc, type, comm))
}
static int Alltoallv(const void* s, const int* sc, const int* sp, int out, void* r, const int* rc,
                     const int* rp, int in, MPI_Comm comm) {
  struct Wide from = Widen(sc, sp, out), to = Widen(rc, rp, in);
  IN_FORM(alltoallv, (s, sc, sp, MPI_INT, r, rc, rp, MPI_INT, comm),
          (s, from.counts, from.places, MPI_INT, r, to.counts, to.places, MPI_INT, comm))
}
static int Alltoallw(const void* s, const int* sc, const MPI_Aint* sp, const MPI_Datatype* st,
                     int out, void* r, const int* rc, const MPI_Aint* rp, const MPI_Datatype* rt,
                     int in, MPI_Comm comm) {
  struct Wide from, to;
  int i;
  for (i = 0; i < out; ++i) from.counts[i] = sc[i];
  for (i = 0; i < in; ++i) to.counts[i] = rc[i];
  IN_FORM(alltoallw, (s, sc, sp, st, r, rc, rp, rt, comm),
          (s, from.counts, sp, st, r, to.counts, rp, rt, comm))
}

/* Returns what `from` has in its block `block`. */
static int Value(int from, int block, int k) { return from * 10000 + block * 100 + k; }
static int Length(int from, int block) { return (from * 3 + block) % (kBlock + 1); }

static void Check(const struct Neighbourhood* all) {
  int in[kMax * kBlock], out[kMax * (kBlock + 1) + 1], i, k;
  int send_counts[kMax], send_at[kMax], counts[kMax], at[kMax];
  MPI_Aint send_bytes[kMax], bytes[kMax];
  MPI_Datatype types[kMax];

  for (k = 0; k < kBlock; ++k) in[k] = Value(rank, 0, k);
  memset(out, -1, sizeof out);
  Allgather(in, kBlock, out, kBlock, MPI_INT, all->comm);
  for (i = 0; i < all->in; ++i)
    for (k = 0; k < kBlock; ++k)
      EXPECT(out[i * kBlock + k] ==
             (all->sources[i] == MPI_PROC_NULL ? -1 : Value(all->sources[i], 0, k)));
  EXPECT(out[all->in * kBlock] == -1);

  for (i = 0; i < all->in; ++i) {
    counts[i] = all->sources[i] == MPI_PROC_NULL ? 1 : Length(all->sources[i], 0);
    at[i] = (all->in - 1 - i) * (kBlock + 1);
  }
  memset(out, -1, sizeof out);
  Allgatherv(in, Length(rank, 0), out, counts, at, all->in, all->comm);
  for (i = 0; i < all->in; ++i) {
    const int there = all->sources[i] != MPI_PROC_NULL;
    for (k = 0; k < counts[i]; ++k)
      EXPECT(out[at[i] + k] == (there ? Value(all->sources[i], 0, k) : -1));
    EXPECT(out[at[i] + counts[i]] == -1);
  }

  for (i = 0; i < all->out; ++i)
    for (k = 0; k < kBlock; ++k) in[i * kBlock + k] = Value(rank, i, k);
  memset(out, -1, sizeof out);
  Alltoall(in, kBlock, out, kBlock, MPI_INT, all->comm);
  for (i = 0; i < all->in; ++i)
    for (k = 0; k < kBlock; ++k)
      EXPECT(out[i * kBlock + k] ==
             (all->sources[i] == MPI_PROC_NULL ? -1 : Value(all->sources[i], all->origin[i], k)));

  for (i = 0; i < all->out; ++i) {
    send_counts[i] = Length(rank, i);
    send_at[i] = i * kBlock;
    send_bytes[i] = send_at[i] * (MPI_Aint)sizeof(int);
  }
  for (i = 0; i < all->in; ++i) {
    counts[i] = all->sources[i] == MPI_PROC_NULL ? 1 : Length(all->sources[i], all->origin[i]);
    bytes[i] = at[i] * (MPI_Aint)sizeof(int);
  }
  for (i = 0; i < kMax; ++i) types[i] = MPI_INT;
  for (k = 0; k < 2; ++k) {
    memset(out, -1, sizeof out);
    if (k == 0)
      Alltoallv(in, send_counts, send_at, all->out, out, counts, at, all->in, all->comm);
    else
      Alltoallw(in, send_counts, send_bytes, types, all->out, out, counts, bytes, types, all->in,
                all->comm);
    for (i = 0; i < all->in; ++i) {
      const int there = all->sources[i] != MPI_PROC_NULL;
      int j;
      for (j = 0; j < counts[i]; ++j)
        EXPECT(out[at[i] + j] == (there ? Value(all->sources[i], all->origin[i], j) : -1));
      EXPECT(out[at[i] + counts[i]] == -1);
    }
  }
}

static void CheckInAllForms(const struct Neighbourhood* all) {
  for (form = kBlocking; form < kForms; ++form) Check(all);
}

static void Grid(int ndims, const int* dims, const int* periods) {
  struct Neighbourhood all;
  int d;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &all.comm);
  if (all.comm == MPI_COMM_NULL) return;
  all.in = all.out = 2 * ndims;
  for (d = 0; d < ndims; ++d) {
    MPI_Cart_shift(all.comm, d, 1, &all.sources[2 * d], &all.sources[2 * d + 1]);
    all.origin[2 * d] = 2 * d + 1;
    all.origin[2 * d + 1] = 2 * d;
  }
  CheckInAllForms(&all);
  MPI_Comm_free(&all.comm);
}

static void Grids(void) {
  int around, dims[3] = {0, 0, 0}, periods[3];
  for (around = 0; around < 8; ++around) {
    periods[0] = around & 1;
    periods[1] = around >> 1 & 1;
    periods[2] = around >> 2 & 1;
    dims[0] = size;
    Grid(1, dims, periods);
    dims[0] = dims[1] = 0;
    MPI_Dims_create(size, 2, dims);
    Grid(2, dims, periods);
    dims[0] = 1;
    dims[1] = 1;
    dims[2] = size;
    Grid(3, dims, periods);
    if (size >= 2) {
      dims[0] = 2;
      dims[1] = size / 2;
      dims[2] = 1;
      Grid(3, dims, periods);
    }
  }
}

/* Returns the n-th block from `from` to `to` in the order of its destinations. */
static int NthTo(const int* edges, int count, int from, int to, int n) {
  int i, block = 0;
  for (i = 0; i < count; ++i) {
    if (edges[2 * i] != from) continue;
    if (edges[2 * i + 1] == to && n-- == 0) return block;
    ++block;
  }
  return -1;
}

/* These are edges (from, to) in the order in which both ends list them. */
static void FromEdges(struct Neighbourhood* all, const int* edges, int count) {
  int i, j, seen;
  all->in = all->out = 0;
  for (i = 0; i < count; ++i) {
    if (edges[2 * i] == rank) all->destinations[all->out++] = edges[2 * i + 1];
    if (edges[2 * i + 1] != rank) continue;
    for (seen = j = 0; j < i; ++j) seen += edges[2 * j] == edges[2 * i] && edges[2 * j + 1] == rank;
    all->origin[all->in] = NthTo(edges, count, edges[2 * i], rank, seen);
    all->sources[all->in++] = edges[2 * i];
  }
}

static void DistributedGraphs(void) {
  struct Neighbourhood all;
  int edges[2 * 4 * kMax], count = 0, r;
  /* Each process has edges to the next one, to itself, to the next again and to the one after. */
  for (r = 0; r < size; ++r) {
    const int to[4] = {(r + 1) % size, r, (r + 1) % size, (r + 2) % size};
    int i;
    for (i = 0; i < (r == size / 2 ? 1 : 4); ++i, ++count) {
      edges[2 * count] = r;
      edges[2 * count + 1] = to[i];
    }
  }
  FromEdges(&all, edges, count);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, all.in, all.sources, MPI_UNWEIGHTED, all.out,
                                 all.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &all.comm);
  CheckInAllForms(&all);
  MPI_Comm_free(&all.comm);

  /* No process has neighbours. */
  all.in = all.out = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &all.comm);
  CheckInAllForms(&all);
  MPI_Comm_free(&all.comm);

  /* The library makes these lists of edges that others declare; they are asked for, then used. */
  {
    const int from = (rank + 1) % size, degree = 2;
    int to[2], weighted, i;
    to[0] = rank;
    to[1] = (rank + 2) % size;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &from, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                          &all.comm);
    MPI_Dist_graph_neighbors_count(all.comm, &all.in, &all.out, &weighted);
    EXPECT(all.in == 2 && all.out == 2 && !weighted);
    MPI_Dist_graph_neighbors(all.comm, kMax, all.sources, MPI_UNWEIGHTED, kMax, all.destinations,
                             MPI_UNWEIGHTED);
    /* Finds where each source has its block for this process. */
    for (form = kBlocking, i = 0; i < 1 && size > 2; ++i) {
      int in[2] = {0, 1}, out[2];
      Alltoall(in, 1, out, 1, MPI_INT, all.comm);
      all.origin[0] = out[0];
      all.origin[1] = out[1];
      CheckInAllForms(&all);
    }
    MPI_Comm_free(&all.comm);
  }
}

/* A ring is a symmetric graph. Among two processes every neighbour comes twice. */
static void Graphs(void) {
  struct Neighbourhood all;
  int index[kMax], edges[2 * kMax], r;
  for (r = 0; r < size; ++r) {
    index[r] = 2 * (r + 1);
    edges[2 * r] = (r + size - 1) % size;
    edges[2 * r + 1] = (r + 1) % size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &all.comm);
  all.in = all.out = 2;
  MPI_Graph_neighbors(all.comm, rank, 2, all.sources);
  all.origin[0] = size > 2 ? 1 : 0;
  all.origin[1] = size > 2 ? 0 : 1;
  CheckInAllForms(&all);
  MPI_Comm_free(&all.comm);
}

static void Errors(void) {
  int in[4] = {0}, out[8], counts[2] = {1, -1}, at[2] = {0, 1}, dims[1], periods[1] = {1};
  MPI_Aint bytes[2] = {0, 4};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Comm ring;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  dims[0] = size;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  for (form = kBlocking; form < kForms; ++form) {
    EXPECT(ClassOf(Allgather(in, 1, out, 1, MPI_INT, MPI_COMM_WORLD)) == MPI_ERR_TOPOLOGY);
    EXPECT(ClassOf(Alltoall(in, 1, out, 1, MPI_INT, MPI_COMM_NULL)) == MPI_ERR_COMM);
    EXPECT(ClassOf(Allgather(in, -1, out, 1, MPI_INT, ring)) == MPI_ERR_COUNT);
    EXPECT(ClassOf(Allgather(in, 1, out, 1, MPI_DATATYPE_NULL, ring)) == MPI_ERR_TYPE);
    EXPECT(ClassOf(Alltoall(MPI_IN_PLACE, 1, out, 1, MPI_INT, ring)) == MPI_ERR_BUFFER);
    EXPECT(ClassOf(Alltoall(in, 1, NULL, 1, MPI_INT, ring)) == MPI_ERR_BUFFER);
    EXPECT(ClassOf(Allgatherv(in, 1, out, counts, at, 2, ring)) == MPI_ERR_COUNT);
    EXPECT(ClassOf(Alltoallv(in, counts, at, 2, out, counts, at, 2, ring)) == MPI_ERR_COUNT);
    EXPECT(ClassOf(Alltoallw(in, counts, bytes, types, 2, out, counts, bytes, types, 2, ring)) ==
           MPI_ERR_COUNT);
  }
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Grids();
  DistributedGraphs();
  Graphs();
#ifndef LAMINA_TEST_NO_ERRORS
  Errors();
#endif
  return Passed();
}
