/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: communicators made by dup, split, create and split_type have the right members in the right
 * order, and messages in one are never seen in another (MPI-5.0, section 7.4).
 */
#include "test/mpi/check.h"

static int SizeOf(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}
static int RankIn(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
/* Every member adds one, so the sum is the size only if exactly the members take part. */
static int Sum(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int main(int argc, char** argv) {
  MPI_Comm twin, half, none, made, node, deep;
  MPI_Group world, evens;
  int size, rank, result, i, range[1][3];

  MPI_Init(&argc, &argv);
  size = SizeOf(MPI_COMM_WORLD);
  rank = RankIn(MPI_COMM_WORLD);
  EXPECT(SizeOf(MPI_COMM_SELF) == 1 && RankIn(MPI_COMM_SELF) == 0);

  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  EXPECT(SizeOf(twin) == size && RankIn(twin) == rank && Sum(twin) == size);
  MPI_Comm_compare(MPI_COMM_WORLD, twin, &result);
  EXPECT(result == MPI_CONGRUENT);
  MPI_Comm_compare(twin, twin, &result);
  EXPECT(result == MPI_IDENT);
  MPI_Comm_test_inter(twin, &result);
  EXPECT(!result);

  /* The same tag in two communicators: each message is received where it was sent. */
  if (size > 1 && rank < 2) {
    int peer = 1 - rank, in_world = 0, in_twin = 0, first = 100 + rank, second = 200 + rank;
    MPI_Request requests[2];
    MPI_Isend(&first, 1, MPI_INT, peer, 7, twin, &requests[0]);
    MPI_Isend(&second, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv(&in_world, 1, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&in_twin, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT(in_world == 200 + peer && in_twin == 100 + peer);
  }

  /* Keys turn the order around; equal keys keep it. */
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  EXPECT(SizeOf(half) == (size + 1 - rank % 2) / 2);
  EXPECT(RankIn(half) == SizeOf(half) - 1 - rank / 2);
  EXPECT(Sum(half) == SizeOf(half));
  MPI_Comm_compare(MPI_COMM_WORLD, half, &result);
  EXPECT(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
  MPI_Comm_split(half, 0, 5, &deep);
  EXPECT(RankIn(deep) == RankIn(half) && Sum(deep) == SizeOf(half));
  MPI_Comm_free(&deep);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 3 : MPI_UNDEFINED, 0, &none);
  if (rank == 0) {
    EXPECT(SizeOf(none) == 1);
    MPI_Comm_free(&none);
  }
  EXPECT(none == MPI_COMM_NULL);

  MPI_Comm_group(MPI_COMM_WORLD, &world);
  range[0][0] = 0, range[0][1] = size - 1, range[0][2] = 2;
  MPI_Group_range_incl(world, 1, range, &evens);
  MPI_Comm_create(MPI_COMM_WORLD, evens, &made);
  if (rank % 2 == 0) {
    EXPECT(Sum(made) == (size + 1) / 2 && RankIn(made) == rank / 2);
    MPI_Comm_free(&made);
    MPI_Comm_create_group(MPI_COMM_WORLD, evens, 11, &made); /* only members call */
    EXPECT(Sum(made) == (size + 1) / 2 && RankIn(made) == rank / 2);
    MPI_Comm_free(&made);
  }
  EXPECT(made == MPI_COMM_NULL);
  MPI_Group_free(&evens);
  MPI_Group_free(&world);

  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  EXPECT(SizeOf(node) >= 1 && Sum(node) == SizeOf(node));
  MPI_Comm_free(&node);

  /* Many communicators are made, one after the other and at once. */
  for (i = 0; i < 50; ++i) {
    MPI_Comm one, two;
    MPI_Comm_dup(half, &one);
    MPI_Comm_dup(one, &two);
    MPI_Comm_free(&one);
    EXPECT(Sum(two) == SizeOf(half));
    MPI_Comm_free(&two);
  }
  MPI_Comm_free(&half);
  MPI_Comm_free(&twin);
  EXPECT(twin == MPI_COMM_NULL);
  return Passed();
}
