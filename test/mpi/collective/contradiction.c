/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   ranks of a node that are not in the same collective call, or bring different lengths or
 *         roots, are told so: nobody waits for ever, and nobody who waited for the odd one goes on.
 * Method: the last rank does otherwise than all others. With argument "fatal" once, and the job
 *         ends; else each case on a communicator of its own that gives errors back. Who only
 *         contributes or tells need not notice.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kWords = 64 << 10, kRanksMax = 16 };

static int rank, size, odd;
static int in[kWords * kRanksMax], out[kWords * kRanksMax];

static int BcastOfMore(MPI_Comm comm) { return MPI_Bcast(in, odd ? 16 : 2, MPI_INT, 0, comm); }
static int BcastFromAnother(MPI_Comm comm) {
  return MPI_Bcast(in, 100, MPI_INT, odd ? 1 % (size - 1) : 0, comm);
}
static int ReduceOfLess(MPI_Comm comm) {
  return MPI_Reduce(in, out, odd ? 1 : 2, MPI_INT, MPI_SUM, 0, comm);
}
static int AllreduceOfMore(MPI_Comm comm) {
  return MPI_Allreduce(in, out, odd ? 3 : 2, MPI_INT, MPI_SUM, comm);
}
static int AllgatherOfMore(MPI_Comm comm) {
  const int count = odd ? 3 : 2;
  return MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm);
}
static int AlltoallOfLess(MPI_Comm comm) {
  const int count = odd ? kWords / 2 : kWords;
  return MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm);
}
static int BarrierInsteadOfBcast(MPI_Comm comm) {
  if (odd) return MPI_Barrier(comm);
  return MPI_Bcast(in, 2, MPI_INT, 0, comm);
}
static int BcastInsteadOfBarrier(MPI_Comm comm) {
  if (odd) return MPI_Bcast(in, 2, MPI_INT, 0, comm);
  return MPI_Barrier(comm);
}
static int BcastFromItself(MPI_Comm comm) {
  if (odd) return MPI_Bcast(in, 2, MPI_INT, rank, comm);
  return MPI_Barrier(comm);
}
static int AllreduceInsteadOfBarrier(MPI_Comm comm) {
  if (odd) return MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm);
  return MPI_Barrier(comm);
}

typedef int (*Call)(MPI_Comm comm);
static const struct Case {
  Call call;
  int error_class;  /* the rank that notices gets it, unless a later call does */
  int all_must_see; /* all wait for all */
} cases[] = {
    {BcastOfMore, MPI_ERR_TRUNCATE, 0},        {BcastFromAnother, MPI_ERR_ROOT, 0},
    {ReduceOfLess, MPI_ERR_TRUNCATE, 0},       {AllreduceOfMore, MPI_ERR_TRUNCATE, 1},
    {AllgatherOfMore, MPI_ERR_TRUNCATE, 1},    {AlltoallOfLess, MPI_ERR_TRUNCATE, 1},
    {BarrierInsteadOfBcast, MPI_ERR_OTHER, 0}, {BcastInsteadOfBarrier, MPI_ERR_OTHER, 1},
    {BcastFromItself, MPI_ERR_OTHER, 0},       {AllreduceInsteadOfBarrier, MPI_ERR_OTHER, 1},
};

static void Try(int i) {
  MPI_Comm comm;
  char text[MPI_MAX_ERROR_STRING];
  int length, code, seen, seen_by_all, seen_by_any;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT(MPI_Barrier(comm) == MPI_SUCCESS);
  code = cases[i].call(comm);
  seen = code != MPI_SUCCESS;
  if (seen && ClassOf(code) != cases[i].error_class) {
    fprintf(stderr, "case %d: class %d\n", i, ClassOf(code));
    EXPECT(!"the class");
  }
  if (seen) {
    MPI_Error_string(code, text, &length);
    EXPECT(strstr(text, "do not make the same calls") != NULL);
  }
  MPI_Allreduce(&seen, &seen_by_any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&seen, &seen_by_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!seen_by_any || seen_by_all < cases[i].all_must_see) fprintf(stderr, "case %d\n", i);
  EXPECT(seen_by_any);
  EXPECT(seen_by_all || !cases[i].all_must_see);
  /* Now no rank goes on as if all were well. */
  EXPECT(MPI_Barrier(comm) != MPI_SUCCESS);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  size_t i;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  odd = rank == size - 1;
  if (argc > 1 && strcmp(argv[1], "fatal") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    AllreduceOfMore(MPI_COMM_WORLD);
    EXPECT(!"the job ends");
  }
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) Try((int)i);
  return Passed();
}
