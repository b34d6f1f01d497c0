/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   bcast, gather(v), scatter(v), allgather(v) and alltoall(v,w) bring every integer where it
 *         belongs and touch nothing else (MPI-5.0, sections 6.4 to 6.8).
 * Method: every root, counts 0, small, odd and long, both layouts on either side, in place and not,
 *         in the forms of calls.h, on the world, on a communicator with ranks reversed, and on one
 *         with an odd number of members.
 */
#include "test/mpi/collective/calls.h"
#include "test/mpi/collective/data.h"

static int rank, size;
static MPI_Comm comm;

/* The v-forms have blocks of even numbers of integers, also of none, in reverse order with gaps. */
static int Block(int r) { return 2 * ((r * 3 + 1) % 4); }
static int Pair(int a, int b) { return 2 * ((a * b + a + b) % 5); }

static void TestBcast(enum Layout layout, int n, int root) {
  int* buffer = NewBuffer(layout, (size_t)n);
  if (rank == root) Fill(buffer, layout, 0, n, root, 0);
  Bcast(buffer, CountOf(layout, n), TypeOf(layout), root, comm);
  CheckFilled("bcast", buffer, layout, 0, n, root, 0);
  CheckHoles("bcast", buffer, layout, (size_t)n);
  free(buffer);
}

/* The root's layout differs from the others'. */
static void TestMixedBcast(int n, int root) {
  const enum Layout layout = rank == root ? kSpread : kPlain;
  int* buffer = NewBuffer(layout, (size_t)n);
  if (rank == root) Fill(buffer, layout, 0, n, root, 0);
  Bcast(buffer, CountOf(layout, n), TypeOf(layout), root, comm);
  CheckFilled("mixed bcast", buffer, layout, 0, n, root, 0);
  free(buffer);
}

static void TestGather(enum Layout from, enum Layout into, int n, int root, int in_place) {
  const size_t total = (size_t)n * (size_t)size;
  int* send = NewBuffer(from, (size_t)n);
  int* receive = NewBuffer(into, total);
  int r;
  Fill(send, from, 0, n, rank, root);
  if (in_place && rank == root) {
    Fill(receive, into, (size_t)n * (size_t)rank, n, rank, root);
    Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, CountOf(into, n), TypeOf(into), root, comm);
  } else if (rank == root) {
    Gather(send, CountOf(from, n), TypeOf(from), receive, CountOf(into, n), TypeOf(into), root,
           comm);
  } else {
    Gather(send, CountOf(from, n), TypeOf(from), NULL, -1, MPI_DATATYPE_NULL, root, comm);
    CheckHole("gather", receive, into, 0, (int)total);
  }
  if (rank == root) {
    for (r = 0; r < size; ++r)
      CheckFilled("gather", receive, into, (size_t)n * (size_t)r, n, r, root);
    CheckHoles("gather", receive, into, total);
  }
  free(send);
  free(receive);
}

static void TestScatter(enum Layout from, enum Layout into, int n, int root, int in_place) {
  int* send = NewBuffer(from, (size_t)n * (size_t)size);
  int* receive = NewBuffer(into, (size_t)n);
  int r;
  for (r = 0; r < size && rank == root; ++r) Fill(send, from, (size_t)n * (size_t)r, n, root, r);
  if (rank != root)
    Scatter(NULL, -1, MPI_DATATYPE_NULL, receive, CountOf(into, n), TypeOf(into), root, comm);
  else if (in_place)
    Scatter(send, CountOf(from, n), TypeOf(from), MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, comm);
  else
    Scatter(send, CountOf(from, n), TypeOf(from), receive, CountOf(into, n), TypeOf(into), root,
            comm);
  if (rank == root && in_place)
    CheckHole("scatter", receive, into, 0, n);
  else
    CheckFilled("scatter", receive, into, 0, n, root, rank);
  CheckHoles("scatter", receive, into, (size_t)n);
  free(send);
  free(receive);
}

static void TestAllgather(enum Layout from, enum Layout into, int n, int in_place) {
  int* send = NewBuffer(from, (size_t)n);
  int* receive = NewBuffer(into, (size_t)n * (size_t)size);
  int r;
  Fill(send, from, 0, n, rank, 0);
  if (in_place) {
    Fill(receive, into, (size_t)n * (size_t)rank, n, rank, 0);
    Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, CountOf(into, n), TypeOf(into), comm);
  } else {
    Allgather(send, CountOf(from, n), TypeOf(from), receive, CountOf(into, n), TypeOf(into), comm);
  }
  for (r = 0; r < size; ++r)
    CheckFilled("allgather", receive, into, (size_t)n * (size_t)r, n, r, 0);
  CheckHoles("allgather", receive, into, (size_t)n * (size_t)size);
  free(send);
  free(receive);
}

static void TestAlltoall(enum Layout from, enum Layout into, int n, int in_place) {
  const size_t total = (size_t)n * (size_t)size;
  int* send = NewBuffer(from, total);
  int* receive = NewBuffer(into, total);
  int r;
  for (r = 0; r < size; ++r) {
    Fill(send, from, (size_t)n * (size_t)r, n, rank, r);
    if (in_place) Fill(receive, into, (size_t)n * (size_t)r, n, rank, r);
  }
  if (in_place)
    Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, CountOf(into, n), TypeOf(into), comm);
  else
    Alltoall(send, CountOf(from, n), TypeOf(from), receive, CountOf(into, n), TypeOf(into), comm);
  for (r = 0; r < size; ++r)
    CheckFilled("alltoall", receive, into, (size_t)n * (size_t)r, n, r, rank);
  CheckHoles("alltoall", receive, into, total);
  free(send);
  free(receive);
}

/* Fills in displacements in integers, last rank first, with 2 integers between blocks. Returns the
 * sum. */
static int Layout(const int* counts, int* displacements) {
  int at = 2, r;
  for (r = size - 1; r >= 0; --r) {
    displacements[r] = at;
    at += counts[r] + 2;
  }
  return at;
}

/* Does the same counted in elements. */
static void ToElements(enum Layout layout, int* values) {
  int r;
  for (r = 0; r < size; ++r) values[r] = CountOf(layout, values[r]);
}

static void TestGathervScatterv(enum Layout one, enum Layout many, int root, int in_place) {
  int counts[kRanksMax] = {0}, displacements[kRanksMax], places[kRanksMax], r, total;
  int *all, *own;
  for (r = 0; r < size; ++r) counts[r] = Block(r);
  total = Layout(counts, displacements);
  for (r = 0; r < size; ++r) places[r] = displacements[r];
  ToElements(many, counts);
  ToElements(many, displacements);

  all = NewBuffer(many, (size_t)total);
  own = NewBuffer(one, (size_t)Block(rank));
  Fill(own, one, 0, Block(rank), rank, root);
  if (rank == root && in_place) {
    Fill(all, many, (size_t)places[rank], Block(rank), rank, root);
    Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displacements, TypeOf(many), root,
            comm);
  } else {
    Gatherv(own, CountOf(one, Block(rank)), TypeOf(one), all, counts, displacements, TypeOf(many),
            root, comm);
  }
  for (r = 0; r < size && rank == root; ++r) {
    CheckFilled("gatherv", all, many, (size_t)places[r], Block(r), r, root);
    CheckHole("gatherv", all, many, (size_t)places[r] - 2, 2);
  }
  CheckHoles("gatherv", all, many, (size_t)total);

  /* The way back. */
  for (r = 0; r < size && rank == root; ++r) Fill(all, many, (size_t)places[r], Block(r), root, r);
  if (rank == root && in_place) {
    Scatterv(all, counts, displacements, TypeOf(many), MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root,
             comm);
  } else {
    Scatterv(all, counts, displacements, TypeOf(many), own, CountOf(one, Block(rank)), TypeOf(one),
             root, comm);
    CheckFilled("scatterv", own, one, 0, Block(rank), root, rank);
  }
  free(all);
  free(own);
}

static void TestAllgatherv(enum Layout one, enum Layout many, int in_place) {
  int counts[kRanksMax] = {0}, displacements[kRanksMax], places[kRanksMax], r, total;
  int *all, *own;
  for (r = 0; r < size; ++r) counts[r] = Block(r);
  total = Layout(counts, displacements);
  for (r = 0; r < size; ++r) places[r] = displacements[r];
  ToElements(many, counts);
  ToElements(many, displacements);
  all = NewBuffer(many, (size_t)total);
  own = NewBuffer(one, (size_t)Block(rank));
  Fill(own, one, 0, Block(rank), rank, 0);
  if (in_place) {
    Fill(all, many, (size_t)places[rank], Block(rank), rank, 0);
    Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displacements, TypeOf(many), comm);
  } else {
    Allgatherv(own, CountOf(one, Block(rank)), TypeOf(one), all, counts, displacements,
               TypeOf(many), comm);
  }
  for (r = 0; r < size; ++r) {
    CheckFilled("allgatherv", all, many, (size_t)places[r], Block(r), r, 0);
    CheckHole("allgatherv", all, many, (size_t)places[r] - 2, 2);
  }
  free(all);
  free(own);
}

/* Blocks of one length lie one after the other on some ranks, and on others in reverse order with
 * holes between them. */
static void TestEqualAllgatherv(enum Layout from, enum Layout into, int n, int in_place, int odd) {
  int counts[kRanksMax], displacements[kRanksMax], places[kRanksMax], r;
  const int apart = odd && rank % 2 == 1;
  int *all, *own;
  for (r = 0; r < size; ++r) {
    counts[r] = n;
    places[r] = displacements[r] = apart ? (size - 1 - r) * (n + 2) : r * n;
  }
  ToElements(into, counts);
  ToElements(into, displacements);
  all = NewBuffer(into, (size_t)size * (size_t)(n + 2));
  own = NewBuffer(from, (size_t)n);
  Fill(own, from, 0, n, rank, 0);
  if (in_place) {
    Fill(all, into, (size_t)places[rank], n, rank, 0);
    Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displacements, TypeOf(into), comm);
  } else {
    Allgatherv(own, CountOf(from, n), TypeOf(from), all, counts, displacements, TypeOf(into), comm);
  }
  for (r = 0; r < size; ++r) {
    CheckFilled("allgatherv", all, into, (size_t)places[r], n, r, 0);
    if (apart) CheckHole("allgatherv", all, into, (size_t)(places[r] + n), 2);
  }
  free(all);
  free(own);
}

static void TestAlltoallv(enum Layout from, enum Layout into, int in_place) {
  int send_counts[kRanksMax] = {0}, send_at[kRanksMax], send_places[kRanksMax];
  int receive_counts[kRanksMax] = {0}, receive_at[kRanksMax], receive_places[kRanksMax];
  int r, send_total, receive_total;
  int *send, *receive;
  for (r = 0; r < size; ++r) send_counts[r] = receive_counts[r] = Pair(rank, r);
  send_total = Layout(send_counts, send_at);
  receive_total = Layout(receive_counts, receive_at);
  for (r = 0; r < size; ++r) {
    send_places[r] = send_at[r];
    receive_places[r] = receive_at[r];
  }
  send = NewBuffer(from, (size_t)send_total);
  receive = NewBuffer(into, (size_t)receive_total);
  for (r = 0; r < size; ++r) {
    Fill(send, from, (size_t)send_places[r], send_counts[r], rank, r);
    if (in_place) Fill(receive, into, (size_t)receive_places[r], receive_counts[r], rank, r);
  }
  ToElements(from, send_counts);
  ToElements(from, send_at);
  ToElements(into, receive_counts);
  ToElements(into, receive_at);
  if (in_place)
    Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, receive, receive_counts, receive_at,
              TypeOf(into), comm);
  else
    Alltoallv(send, send_counts, send_at, TypeOf(from), receive, receive_counts, receive_at,
              TypeOf(into), comm);
  for (r = 0; r < size; ++r) {
    CheckFilled("alltoallv", receive, into, (size_t)receive_places[r], Pair(rank, r), r, rank);
    CheckHole("alltoallv", receive, into, (size_t)receive_places[r] - 2, 2);
  }
  free(send);
  free(receive);
}

/* The ranks of its sender and its receiver say which layout a block has. */
static void TestAlltoallw(int in_place) {
  MPI_Datatype send_types[kRanksMax], receive_types[kRanksMax];
  int send_counts[kRanksMax], send_at[kRanksMax], receive_counts[kRanksMax], receive_at[kRanksMax];
  enum { kRoom = 64 };
  int* send = NewBuffer(kSpread, (size_t)(kRoom * size));
  int* receive = NewBuffer(kSpread, (size_t)(kRoom * size));
  int r;
  for (r = 0; r < size; ++r) {
    const enum Layout from = (rank + r) % 2 == 0 ? kPlain : kSpread;
    const enum Layout into = (rank * r) % 3 == 0 ? kPlain : kSpread;
    const int n = Pair(rank, r);
    send_types[r] = TypeOf(from);
    receive_types[r] = TypeOf(into);
    send_counts[r] = CountOf(from, n);
    receive_counts[r] = CountOf(into, n);
    send_at[r] = receive_at[r] = r * kRoom * 2 * (int)sizeof(int);
    Fill(send + r * kRoom * 2, from, 0, n, rank, r);
    if (in_place) Fill(receive + r * kRoom * 2, into, 0, n, rank, r);
  }
  if (in_place)
    Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, receive, receive_counts, receive_at, receive_types,
              comm);
  else
    Alltoallw(send, send_counts, send_at, send_types, receive, receive_counts, receive_at,
              receive_types, comm);
  for (r = 0; r < size; ++r)
    CheckFilled("alltoallw", receive + r * kRoom * 2, (rank * r) % 3 == 0 ? kPlain : kSpread, 0,
                Pair(rank, r), r, rank);
  free(send);
  free(receive);
}

/* Every second rank receives blocks of four numbers where the others receive numbers. */
static void TestMixedAllgather(int fours) {
  const int own = rank % 2 == 0 ? 4 * fours : fours;
  int* send = malloc((size_t)fours * 4 * sizeof(int));
  int* receive = malloc((size_t)(fours * size) * 4 * sizeof(int));
  int counts[kRanksMax], places[kRanksMax], vector, r, i, wrong = 0;
  MPI_Datatype four, type;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Type_commit(&four);
  type = rank % 2 == 0 ? MPI_INT : four;
  for (i = 0; i < 4 * fours; ++i) send[i] = rank * 1000000 + i;
  for (r = 0; r < size; ++r) {
    counts[r] = own;
    places[r] = r * own;
  }
  for (vector = 0; vector < 2; ++vector) {
    memset(receive, 0, (size_t)(fours * size) * 4 * sizeof(int));
    if (vector)
      Allgatherv(send, 4 * fours, MPI_INT, receive, counts, places, type, comm);
    else
      Allgather(send, 4 * fours, MPI_INT, receive, own, type, comm);
    for (r = 0; r < size; ++r)
      for (i = 0; i < 4 * fours; ++i) wrong += receive[r * 4 * fours + i] != r * 1000000 + i;
    EXPECT(wrong == 0);
  }
  MPI_Type_free(&four);
  free(send);
  free(receive);
}

static void TestAll(void) {
  static const int lengths[] = {0, 2, 6, 46, 4098, 20002};
  int i, root, in_place;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (i = 0; i < (int)(sizeof lengths / sizeof lengths[0]); ++i) {
    const int n = lengths[i];
    const int step = n > 4000 ? size / 2 + 1 : 1; /* only some roots send long ones */
    enum Layout a = i % 2 == 0 ? kPlain : kSpread, b = i % 3 == 0 ? kSpread : kPlain;
    for (root = 0; root < size; root += step) {
      Barrier(comm);
      TestBcast(a, n, root);
      TestMixedBcast(n, root);
      for (in_place = 0; in_place < 2; ++in_place) {
        TestGather(a, b, n, root, in_place);
        TestScatter(b, a, n, root, in_place);
        if (n == 0) TestGathervScatterv(kPlain, kSpread, root, in_place);
        if (n == 2) TestGathervScatterv(kSpread, kPlain, root, in_place);
      }
    }
    for (in_place = 0; in_place < 2; ++in_place) {
      TestAllgather(a, b, n, in_place);
      TestEqualAllgatherv(a, b, n, in_place, 0);
      TestEqualAllgatherv(b, a, n, in_place, 1);
      TestAlltoall(b, a, n, in_place);
    }
  }
  for (root = 0; root < size;
       root += size - 1 + (size == 1)) /* it goes in segments; the next call follows at once */
    for (i = 0; i < 3; ++i) TestBcast(root == 0 ? kPlain : kSpread, 300002, root);
  for (in_place = 0; in_place < 2; ++in_place) {
    TestAllgatherv(kPlain, kSpread, in_place);
    TestAllgatherv(kSpread, kPlain, in_place);
    TestAlltoallv(kPlain, kSpread, in_place);
    TestAlltoallv(kSpread, kSpread, in_place);
    TestAlltoallw(in_place);
  }
  TestMixedAllgather(3);
  TestMixedAllgather(5001);
}

int main(int argc, char** argv) {
  MPI_Comm world;
  MPI_Init(&argc, &argv);
  MakeTypes();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  world = MPI_COMM_WORLD;
  for (form = kBlocking; form < kForms; ++form) {
    const int world_rank = rank, world_size = size;
    comm = world;
    TestAll();
    /* The ranks are reversed, and of an even number the last one is left out. */
    MPI_Comm_split(world, world_size > 2 && world_size % 2 == 0 && world_rank == world_size - 1,
                   -world_rank, &comm);
    TestAll();
    MPI_Comm_free(&comm);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
  }
  MPI_Type_free(&spread_type);
  return Passed();
}
