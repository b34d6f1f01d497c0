/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: communicators from groups of several sessions work side by side and beside the world model,
 * before, during and after it; sessions come and go as often as one likes
 * (MPI-5.0, sections 11.3, 7.4.2 and 7.6.2).
 */
#include "test/mpi/session/session.h"

/* The same members have two contexts, and what is sent in one is not seen in the other. */
static void KeepApart(MPI_Comm one, MPI_Comm two) {
  int size = SizeOf(one), next = (RankIn(one) + 1) % size, before = (RankIn(one) + size - 1) % size;
  int first = 1, second = 2, in = 0;
  MPI_Request requests[2];
  MPI_Isend(&first, 1, MPI_INT, next, 5, one, &requests[0]);
  MPI_Isend(&second, 1, MPI_INT, next, 5, two, &requests[1]);
  MPI_Recv(&in, 1, MPI_INT, before, 5, two, MPI_STATUS_IGNORE);
  EXPECT(in == 2);
  MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, one, MPI_STATUS_IGNORE);
  EXPECT(in == 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void Cycle(int round) {
  MPI_Session session = Open();
  char tag[20];
  MPI_Comm world, twin;
  sprintf(tag, "cycle %d", round % 3);
  world = CommOf(session, "mpi://WORLD", tag);
  MPI_Comm_dup(world, &twin);
  KeepApart(world, twin);
  EXPECT(Sum(twin) == SizeOf(world));
  MPI_Comm_free(&twin);
  MPI_Comm_free(&world);
  EXPECT(MPI_Session_finalize(&session) == MPI_SUCCESS);
}

/* A part of the world makes a communicator without the others. */
static void Halves(MPI_Session session) {
  MPI_Group world, half, other;
  MPI_Comm comm, inter, merged;
  int size, rank, range[1][3], side;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_size(world, &size);
  MPI_Group_rank(world, &rank);
  side = rank % 2;
  range[0][0] = side, range[0][1] = size - 1, range[0][2] = 2;
  MPI_Group_range_incl(world, 1, range, &half);
  MPI_Comm_create_from_group(half, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  EXPECT(SizeOf(comm) == (size + 1 - side) / 2 && Sum(comm) == SizeOf(comm));
  MPI_Comm_free(&comm);
  if (size > 1) {
    MPI_Group_difference(world, half, &other);
    EXPECT(MPI_Intercomm_create_from_groups(half, 0, other, 0, "both", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &inter) == MPI_SUCCESS);
    EXPECT(SizeOf(inter) == (size + 1 - side) / 2);
    MPI_Intercomm_merge(inter, side, &merged);
    EXPECT(Sum(merged) == size);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Group_free(&other);
  }
  MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  EXPECT(comm == MPI_COMM_NULL);
  MPI_Group_free(&half);
  MPI_Group_free(&world);
}

/* The bound on tags is the only predefined attribute here (section 9.1.2). */
static void Attributes(MPI_Comm comm) {
  void* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag);
  EXPECT(flag && *(int*)value >= 32767);
}

int main(int argc, char** argv) {
  MPI_Session one, two, late;
  MPI_Comm first, second, third, alone;
  int round, flag, cycles = argc > 1 ? 50 : 5;

  for (round = 0; round < cycles; ++round) Cycle(round);

  one = Open();
  two = Open();
  EXPECT(one != two);
  first = CommOf(one, "mpi://WORLD", "first");
  second = CommOf(two, "mpi://WORLD", "second");
  KeepApart(first, second);
  Attributes(first);
  alone = CommOf(two, "mpi://SELF", "alone");
  EXPECT(SizeOf(alone) == 1 && Sum(alone) == 1);
  MPI_Comm_free(&alone);
  Halves(one);

  MPI_Init(&argc, &argv);
  MPI_Initialized(&flag);
  EXPECT(flag);
  EXPECT(Sum(MPI_COMM_WORLD) == SizeOf(first));
  KeepApart(MPI_COMM_WORLD, second);
  MPI_Comm_free(&first);
  EXPECT(MPI_Session_finalize(&one) == MPI_SUCCESS);
  late = Open();
  third = CommOf(late, "mpi://WORLD", "third");
  KeepApart(third, MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Finalized(&flag);
  EXPECT(flag);
  KeepApart(second, third);
  EXPECT(Sum(third) == SizeOf(second));
  MPI_Comm_free(&third);
  MPI_Comm_free(&second);
  EXPECT(MPI_Session_finalize(&late) == MPI_SUCCESS);
  EXPECT(MPI_Session_finalize(&two) == MPI_SUCCESS);

  for (round = 0; round < cycles; ++round) Cycle(round);
  return failures != 0;
}
