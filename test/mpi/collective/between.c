/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   collectives on an intercommunicator move and combine the data of the other group, with
 *         MPI_ROOT and MPI_PROC_NULL on the side of the root; reductions keep rank order
 *         (MPI-5.0, sections 6.2.2, 6.2.3 and 6.3 to 6.10).
 * Method: the world cut into two groups of unequal size; every root of both; every form of calls.h;
 *         counts that differ by direction and by rank, zeros among them; an operation on intervals
 *         that shows a wrong order; wrong roots and wrong operations.
 */
#include "test/mpi/collective/calls.h"
#include "test/mpi/collective/data.h"

static MPI_Comm comm;
static int group, rank, sizes[2];        /* the group of this process, and its rank there */
static int local, remote, first, others; /* sizes, and the first world rank of either group */
static int me;                           /* this process's rank in the world */
static MPI_Datatype interval;
static MPI_Op join;

/* The intervals of world ranks that meet, left to right. */
static void Join(void* in, void* inout, int* length, MPI_Datatype* type) {
  int *a = in, *b = inout, i;
  (void)type;
  for (i = 0; i < 2 * *length; i += 2) {
    if (a[i + 1] + 1 == b[i])
      b[i] = a[i];
    else
      b[i] = b[i + 1] = -1000;
  }
}

/* Returns what this process passes as root if the root is rank `root` of group `of`. */
static int RootArgument(int of, int root) {
  if (group != of) return root;
  return rank == root ? MPI_ROOT : MPI_PROC_NULL;
}
static int IsRoot(int of, int root) { return group == of && rank == root; }

static int Uneven(int from, int to) { return (from * 3 + to * 5) % 4; }

static void TestRooted(int of, int root) {
  const int argument = RootArgument(of, root), n = 5;
  const int root_in_world = (of == 0 ? 0 : sizes[0]) + root;
  int data[5], all[5 * kRanksMax], counts[kRanksMax], places[kRanksMax], i, r, at = 0;
  for (i = 0; i < n; ++i) data[i] = IsRoot(of, root) ? Datum(me, 0, i) : -1;
  Bcast(data, n, MPI_INT, argument, comm);
  for (i = 0; i < n; ++i)
    EXPECT(data[i] == (group != of || IsRoot(of, root) ? Datum(root_in_world, 0, i) : -1));

  for (i = 0; i < n; ++i) data[i] = Datum(me, 1, i);
  memset(all, -1, sizeof all);
  if (group != of)
    Gather(data, n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, argument, comm);
  else
    Gather(NULL, -1, MPI_DATATYPE_NULL, all, n, MPI_INT, argument, comm);
  for (r = 0; r < remote && IsRoot(of, root); ++r)
    for (i = 0; i < n; ++i) EXPECT(all[r * n + i] == Datum(others + r, 1, i));

  for (r = 0; r < remote; ++r) {
    counts[r] = Uneven(others + r, 0);
    places[r] = at;
    at += counts[r] + 1;
  }
  memset(all, -1, sizeof all);
  if (group != of)
    Gatherv(data, Uneven(me, 0), MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, argument, comm);
  else
    Gatherv(NULL, -1, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, argument, comm);
  for (r = 0; r < remote && IsRoot(of, root); ++r) {
    for (i = 0; i < counts[r]; ++i) EXPECT(all[places[r] + i] == Datum(others + r, 1, i));
    EXPECT(all[places[r] + counts[r]] == -1);
  }

  memset(data, -1, sizeof data);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < n; ++i) all[r * n + i] = Datum(me, others + r, i);
  if (group == of)
    Scatter(all, n, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, argument, comm);
  else
    Scatter(NULL, -1, MPI_DATATYPE_NULL, data, n, MPI_INT, argument, comm);
  for (i = 0; i < n && group != of; ++i) EXPECT(data[i] == Datum(root_in_world, me, i));

  memset(data, -1, sizeof data);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < counts[r]; ++i) all[places[r] + i] = Datum(me, others + r, i);
  if (group == of)
    Scatterv(all, counts, places, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, argument, comm);
  else
    Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, data, Uneven(me, 0), MPI_INT, argument, comm);
  for (i = 0; i < n && group != of; ++i)
    EXPECT(data[i] == (i < Uneven(me, 0) ? Datum(root_in_world, me, i) : -1));

  data[0] = data[1] = me;
  all[0] = all[1] = -1;
  Reduce(data, all, 1, interval, join, argument, comm);
  if (IsRoot(of, root)) EXPECT(all[0] == others && all[1] == others + remote - 1);
  if (!IsRoot(of, root)) EXPECT(all[0] == -1);
}

static void TestGathered(void) {
  /* In one direction each rank sends two integers, in the other none. */
  const int n = group == 0 ? 2 : 0, theirs = 2 - n;
  int data[4], all[4 * kRanksMax], counts[kRanksMax], places[kRanksMax], i, r, at = 0;
  for (i = 0; i < 4; ++i) data[i] = Datum(me, 0, i);
  memset(all, -1, sizeof all);
  Allgather(data, n, MPI_INT, all, theirs, MPI_INT, comm);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < theirs; ++i) EXPECT(all[r * theirs + i] == Datum(others + r, 0, i));
  EXPECT(all[remote * theirs] == -1);

  for (r = remote - 1; r >= 0; --r) {
    counts[r] = Uneven(others + r, 0);
    places[r] = at;
    at += counts[r] + 1;
  }
  memset(all, -1, sizeof all);
  Allgatherv(data, Uneven(me, 0), MPI_INT, all, counts, places, MPI_INT, comm);
  for (r = 0; r < remote; ++r) {
    for (i = 0; i < counts[r]; ++i) EXPECT(all[places[r] + i] == Datum(others + r, 0, i));
    EXPECT(all[places[r] + counts[r]] == -1);
  }
}

static void TestExchanged(void) {
  enum { kBlock = 3 };
  int in[4 * kRanksMax], out[4 * kRanksMax], i, r, at = 0, from = 0;
  int send_counts[kRanksMax], receive_counts[kRanksMax], send_at[kRanksMax], receive_at[kRanksMax];
  int send_bytes[kRanksMax], receive_bytes[kRanksMax];
  MPI_Datatype types[kRanksMax];
  for (r = 0; r < remote; ++r)
    for (i = 0; i < kBlock; ++i) in[r * kBlock + i] = Datum(me, others + r, i);
  Alltoall(in, kBlock, MPI_INT, out, kBlock, MPI_INT, comm);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < kBlock; ++i) EXPECT(out[r * kBlock + i] == Datum(others + r, me, i));

  for (r = 0; r < remote; ++r) {
    send_counts[r] = Uneven(me, others + r);
    receive_counts[r] = Uneven(others + r, me);
    send_at[r] = at;
    receive_at[r] = from;
    at += send_counts[r];
    from += receive_counts[r];
    send_bytes[r] = send_at[r] * (int)sizeof(int);
    receive_bytes[r] = receive_at[r] * (int)sizeof(int);
    types[r] = MPI_INT;
    for (i = 0; i < send_counts[r]; ++i) in[send_at[r] + i] = Datum(me, others + r, i);
  }
  memset(out, -1, sizeof out);
  Alltoallv(in, send_counts, send_at, MPI_INT, out, receive_counts, receive_at, MPI_INT, comm);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < receive_counts[r]; ++i)
      EXPECT(out[receive_at[r] + i] == Datum(others + r, me, i));
  EXPECT(out[from] == -1);
  memset(out, -1, sizeof out);
  Alltoallw(in, send_counts, send_bytes, types, out, receive_counts, receive_bytes, types, comm);
  for (r = 0; r < remote; ++r)
    for (i = 0; i < receive_counts[r]; ++i)
      EXPECT(out[receive_at[r] + i] == Datum(others + r, me, i));
  EXPECT(out[from] == -1);
}

static void TestReduced(void) {
  enum { kMax = kRanksMax * kRanksMax };
  static int in[2 * kMax], out[2 * kMax];
  const int total = sizes[0] * sizes[1], block = total / local;
  int counts[kRanksMax], i, r;
  for (i = 0; i < total; ++i) in[2 * i] = in[2 * i + 1] = me;
  memset(out, -1, sizeof out);
  Allreduce(in, out, total, interval, join, comm);
  for (i = 0; i < total; ++i) EXPECT(out[2 * i] == others && out[2 * i + 1] == others + remote - 1);

  for (i = 0; i < total; ++i) in[i] = me * 1000 + i;
  memset(out, -1, sizeof out);
  ReduceScatterBlock(in, out, block, MPI_INT, MPI_SUM, comm);
  for (i = 0; i < block; ++i) {
    int sum = remote * (rank * block + i);
    for (r = 0; r < remote; ++r) sum += 1000 * (others + r);
    EXPECT(out[i] == sum);
  }
  EXPECT(out[block] == -1);

  /* The first rank gets all elements of the other ranks but one. */
  for (r = 0; r < local; ++r) counts[r] = r == 0 ? total - (local - 1) : 1;
  memset(out, -1, sizeof out);
  ReduceScatter(in, out, counts, MPI_INT, MPI_MAX, comm);
  for (i = 0; i < counts[rank]; ++i) {
    const int index = rank == 0 ? i : counts[0] + rank - 1;
    EXPECT(out[i] == (others + remote - 1) * 1000 + index);
  }
  EXPECT(out[counts[rank]] == -1);
}

static void TestErrors(void) {
  int one = 1, sum = 0;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(Bcast(&one, 1, MPI_INT, remote, comm)) == MPI_ERR_ROOT);
  EXPECT(ClassOf(Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, -17, comm)) == MPI_ERR_ROOT);
  EXPECT(ClassOf(Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(Exscan(&one, &sum, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(Allgather(MPI_IN_PLACE, 1, MPI_INT, &sum, 1, MPI_INT, comm)) == MPI_ERR_BUFFER);
}

/* No process leaves before all of the other group have come. */
static void TestBarrier(void) {
  int here = -1, r;
  MPI_Request requests[kRanksMax];
  for (r = 0; r < remote; ++r) MPI_Issend(&me, 1, MPI_INT, r, 5, comm, &requests[r]);
  for (r = 0; r < remote; ++r) MPI_Recv(&here, 1, MPI_INT, r, 5, comm, MPI_STATUS_IGNORE);
  MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE);
  Barrier(comm);
  MPI_Isend(&me, 1, MPI_INT, 0, 6, comm, &requests[0]);
  for (r = 0; rank == 0 && r < remote; ++r)
    MPI_Recv(&here, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Comm mine, twin;
  int world, of, root;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &world);
  sizes[0] = (world + 2) / 3;
  sizes[1] = world - sizes[0];
  group = me >= sizes[0];
  local = sizes[group];
  remote = sizes[1 - group];
  first = group == 0 ? 0 : sizes[0];
  others = group == 0 ? sizes[0] : 0;
  MPI_Comm_split(MPI_COMM_WORLD, group, me, &mine);
  MPI_Comm_rank(mine, &rank);
  EXPECT(rank == me - first);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, others, 17, &comm);
  MPI_Type_contiguous(2, MPI_INT, &interval);
  MPI_Type_commit(&interval);
  MPI_Op_create(Join, 0, &join);
  for (form = kBlocking; form < kForms; ++form) {
    TestBarrier();
    for (of = 0; of < 2; ++of)
      for (root = 0; root < sizes[of]; ++root) TestRooted(of, root);
    TestGathered();
    TestExchanged();
    TestReduced();
#ifndef LAMINA_TEST_NO_ERRORS
    TestErrors();
#endif
  }
  MPI_Comm_free(&mine);
  /* This one is on a duplicate while one on the original is under way. */
  form = kNonBlocking;
  MPI_Comm_dup(comm, &twin);
  {
    MPI_Request request;
    int sum = 0, one = 1;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    mine = comm;
    comm = twin;
    TestReduced();
    comm = mine;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(sum == remote);
  }
  MPI_Comm_free(&twin);
  MPI_Comm_free(&comm);
  MPI_Op_free(&join);
  MPI_Type_free(&interval);
  return Passed();
}
