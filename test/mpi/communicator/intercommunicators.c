/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: two groups joined by MPI_Intercomm_create talk across, never within; dup, split, create,
 * merge and free work on what was made (MPI-5.0, section 7.6).
 */
#include "test/mpi/check.h"

/* Other MPIs need these. One of them takes no intercommunicator as peer_comm. */
#if MPI_VERSION < 4
#define MPI_Comm_idup_with_info(comm, info, newcomm, request) MPI_Comm_idup(comm, newcomm, request)
#define PEER MPI_COMM_WORLD
#define REMOTE_LEADER (1 - side + 2 * (remote_size - 1))
#else
#define PEER inter
#define REMOTE_LEADER (remote_size - 1)
#endif

static int rank, size, side, local_size, remote_size;

static int SizeOf(MPI_Comm comm) {
  int value;
  MPI_Comm_size(comm, &value);
  return value;
}
static int RankIn(MPI_Comm comm) {
  int value;
  MPI_Comm_rank(comm, &value);
  return value;
}
static int RemoteSizeOf(MPI_Comm comm) {
  int value;
  MPI_Comm_remote_size(comm, &value);
  return value;
}

/* Every process sends what identifies the pair to every member of the other group. Half of that is
 * received with MPI_ANY_SOURCE. */
static void Talk(MPI_Comm inter, int base) {
  MPI_Request requests[16];
  int sent[16], got[16], i, me = RankIn(inter), others = RemoteSizeOf(inter), sum = 0;
  for (i = 0; i < others; ++i) {
    sent[i] = base + 100 * me + i;
    MPI_Isend(&sent[i], 1, MPI_INT, i, 3, inter, &requests[i]);
  }
  for (i = 0; i < others; ++i) {
    MPI_Status status;
    got[i] = -1;
    MPI_Recv(&got[i], 1, MPI_INT, i % 2 ? i : MPI_ANY_SOURCE, 3, inter, &status);
    EXPECT(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < others);
    EXPECT(got[i] == base + 100 * status.MPI_SOURCE + me);
    sum += status.MPI_SOURCE;
    if (i % 2 == 0 && status.MPI_SOURCE % 2 != 0) { /* took one that was wanted by name */
      int again;
      for (again = i + 1; again < others; ++again)
        MPI_Recv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status), sum += status.MPI_SOURCE;
      break;
    }
  }
  EXPECT(sum == others * (others - 1) / 2);
  MPI_Waitall(others, requests, MPI_STATUSES_IGNORE);
}

static void Shape(MPI_Comm inter) {
  MPI_Group mine, theirs, shared;
  int flag, n;
  MPI_Comm_test_inter(inter, &flag);
  EXPECT(flag);
  EXPECT(SizeOf(inter) == local_size && RemoteSizeOf(inter) == remote_size);
  EXPECT(RankIn(inter) == rank / 2);
  MPI_Comm_group(inter, &mine);
  MPI_Comm_remote_group(inter, &theirs);
  MPI_Group_size(mine, &n);
  EXPECT(n == local_size);
  MPI_Group_size(theirs, &n);
  EXPECT(n == remote_size);
  MPI_Group_rank(theirs, &n);
  EXPECT(n == MPI_UNDEFINED);
  MPI_Group_intersection(mine, theirs, &shared);
  EXPECT(shared == MPI_GROUP_EMPTY);
  MPI_Group_free(&mine);
  MPI_Group_free(&theirs);
}

/* The even ranks of the world come first, unless they pass high. */
static void Merge(MPI_Comm inter) {
  MPI_Comm all;
  int evens_high, sum = 0, first;
  for (evens_high = 0; evens_high < 2; ++evens_high) {
    MPI_Intercomm_merge(inter, side == 0 ? evens_high : !evens_high, &all);
    EXPECT(SizeOf(all) == size);
    EXPECT(RankIn(all) == rank / 2 + (side == evens_high ? 0 : remote_size));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    EXPECT(sum == size * (size - 1) / 2);
    MPI_Comm_free(&all);
  }
  /* If both pass the same, any order will do on which all agree. */
  MPI_Intercomm_merge(inter, 1, &all);
  first = rank;
  MPI_Bcast(&first, 1, MPI_INT, 0, all);
  EXPECT(first == 0 || first == 1);
  EXPECT(RankIn(all) == rank / 2 + (side == first ? 0 : remote_size));
  MPI_Comm_free(&all);
}

/* Ranks form pairs; then no process on the other side chooses the same colour. */
static void Split(MPI_Comm inter) {
  MPI_Comm pair, none;
  MPI_Comm_split(inter, rank / 2, 0, &pair);
  if (rank / 2 < remote_size) {
    int got = -1, other = rank ^ 1;
    EXPECT(SizeOf(pair) == 1 && RemoteSizeOf(pair) == 1);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, pair, MPI_STATUS_IGNORE);
    EXPECT(got == other);
    MPI_Comm_free(&pair);
  } else {
    EXPECT(pair == MPI_COMM_NULL);
  }
  MPI_Comm_split(inter, side, 0, &none);
  EXPECT(none == MPI_COMM_NULL);
  MPI_Comm_split(inter, side == 0 ? MPI_UNDEFINED : 0, 0, &none);
  EXPECT(none == MPI_COMM_NULL);
  MPI_Comm_split(inter, 0, -rank, &pair); /* all of both, each side backwards */
  EXPECT(SizeOf(pair) == local_size && RankIn(pair) == local_size - 1 - rank / 2);
  Talk(pair, 5000);
  MPI_Comm_free(&pair);
}

/* The first processes of both sides make an intercommunicator. */
static void Create(MPI_Comm inter) {
  MPI_Group mine, first;
  MPI_Comm made;
  int zero = 0;
  MPI_Comm_group(inter, &mine);
  MPI_Group_incl(mine, 1, &zero, &first);
  MPI_Comm_create(inter, first, &made);
  if (rank < 2) {
    EXPECT(SizeOf(made) == 1 && RemoteSizeOf(made) == 1);
    Talk(made, 7000);
    MPI_Comm_free(&made);
  }
  EXPECT(made == MPI_COMM_NULL);
  MPI_Comm_create(inter, side == 0 ? MPI_GROUP_EMPTY : first, &made);
  EXPECT(made == MPI_COMM_NULL);
  MPI_Group_free(&first);
  MPI_Group_free(&mine);
}

static void Compare(MPI_Comm inter, MPI_Comm twin, MPI_Comm half) {
  int result;
  MPI_Comm_compare(inter, twin, &result);
  EXPECT(result == MPI_CONGRUENT);
  MPI_Comm_compare(inter, inter, &result);
  EXPECT(result == MPI_IDENT);
  MPI_Comm_compare(inter, half, &result);
  EXPECT(result == MPI_UNEQUAL);
}

static void Errors(MPI_Comm inter, MPI_Comm half) {
  MPI_Comm none = MPI_COMM_NULL;
  MPI_Group group;
  int value;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Comm_remote_size(MPI_COMM_WORLD, &value)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_remote_group(MPI_COMM_WORLD, &group)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &none)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &none)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 0, &none)) ==
         MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &none)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Intercomm_create(half, local_size, MPI_COMM_WORLD, 0, 0, &none)) ==
         MPI_ERR_RANK);
  if (rank < 2) {
    EXPECT(ClassOf(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, 0, 0, &none)) == MPI_ERR_COMM);
    EXPECT(ClassOf(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size, 0, &none)) == MPI_ERR_RANK);
  }
  EXPECT(none == MPI_COMM_NULL);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, remote_size, 0, inter)) == MPI_ERR_RANK);
}

int main(int argc, char** argv) {
  MPI_Comm half, inter, twin, hinted;
  MPI_Request requests[2];
  int i;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  side = rank % 2;
  local_size = (size + 1 - side) / 2;
  remote_size = size - local_size;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 12, &inter);
  Shape(inter);
  Talk(inter, 1000);
  MPI_Comm_dup(inter, &twin);
  Shape(twin);
  Compare(inter, twin, half);
  Talk(twin, 2000);
  MPI_Comm_free(&twin);
  MPI_Comm_dup_with_info(inter, MPI_INFO_NULL, &hinted);
  Talk(hinted, 3000);
  MPI_Comm_free(&hinted);
  MPI_Comm_idup(inter, &twin, &requests[0]);
  MPI_Comm_idup_with_info(inter, MPI_INFO_NULL, &hinted, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  Shape(twin);
  Talk(hinted, 3500);
  Talk(twin, 4000);
  MPI_Comm_free(&hinted);
  Merge(inter);
  Split(inter);
  Create(inter);
  Merge(twin);
  for (i = 0; i < 20; ++i) {
    MPI_Comm again;
    MPI_Intercomm_create(half, local_size - 1, PEER, REMOTE_LEADER, i, &again);
    EXPECT(RemoteSizeOf(again) == remote_size);
    MPI_Comm_free(&again);
  }
  MPI_Comm_free(&twin);
  Errors(inter, half);
  MPI_Comm_free(&inter);
  EXPECT(inter == MPI_COMM_NULL);
  MPI_Comm_free(&half);
  return Passed();
}
