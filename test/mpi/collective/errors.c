/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   wrong arguments of collectives give the right error class, move nothing, and leave the
 *         communicator usable (MPI-5.0, section 9.3).
 * Method: every rank makes the same mistake, with errors returned; then a collective that
 *         must work.
 */
#include "test/mpi/collective/calls.h"

#define EXPECT_CLASS(error_class, call) EXPECT(ClassOf(call) == (error_class))

static int rank, size, in[4 * kRanksMax], out[4 * kRanksMax], counts[kRanksMax], places[kRanksMax];

/* Makes at least one mistake for each operation, in the form that is set. */
static void EachOperation(void) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Datatype types[kRanksMax];
  int i;
  for (i = 0; i < size; ++i) types[i] = MPI_INT;
  EXPECT_CLASS(MPI_ERR_COMM, Barrier(MPI_COMM_NULL));
  EXPECT_CLASS(MPI_ERR_COUNT, Bcast(in, -1, MPI_INT, 0, comm));
  EXPECT_CLASS(MPI_ERR_ROOT, Bcast(in, 1, MPI_INT, size, comm));
  EXPECT_CLASS(MPI_ERR_ROOT, Bcast(in, 1, MPI_INT, MPI_ROOT, comm));
  EXPECT_CLASS(MPI_ERR_ROOT, Gather(in, 1, MPI_INT, out, 1, MPI_INT, -1, comm));
  EXPECT_CLASS(MPI_ERR_COUNT, Gather(in, -1, MPI_INT, out, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_ARG, Gatherv(in, 1, MPI_INT, out, NULL, places, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_TYPE, Scatter(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_ARG, Scatterv(in, counts, NULL, MPI_INT, out, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Allgather(in, 1, MPI_INT, NULL, 1, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_ARG, Allgatherv(in, 1, MPI_INT, out, NULL, places, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_TYPE, Alltoall(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Gather(out, 1, MPI_INT, out, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Scatter(in, 1, MPI_INT, in, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Allgather(out, 1, MPI_INT, out, 1, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Alltoall(in, 1, MPI_INT, in, 1, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_TRUNCATE, Gather(in, 2, MPI_INT, out, 1, MPI_INT, rank, comm));
  EXPECT_CLASS(MPI_ERR_TRUNCATE, Scatter(in, 1, MPI_INT, out, 1, MPI_CHAR, rank, comm));
  EXPECT_CLASS(MPI_ERR_TRUNCATE, Allgather(in, 1, MPI_INT, out, 1, MPI_CHAR, comm));
  EXPECT_CLASS(MPI_ERR_TRUNCATE, Alltoall(in, 0, MPI_INT, out, 1, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_BUFFER, Reduce(in, in, 1, MPI_INT, MPI_SUM, rank, comm));
  EXPECT_CLASS(MPI_ERR_OP, Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  EXPECT_CLASS(MPI_ERR_OP, Scan(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
  EXPECT_CLASS(MPI_ERR_COUNT, Exscan(in, out, -5, MPI_INT, MPI_SUM, comm));
  EXPECT_CLASS(MPI_ERR_COUNT, ReduceScatterBlock(in, out, -1, MPI_INT, MPI_SUM, comm));
  EXPECT_CLASS(MPI_ERR_ARG, ReduceScatter(in, out, NULL, MPI_INT, MPI_SUM, comm));
  counts[size - 1] = -2;
  EXPECT_CLASS(MPI_ERR_COUNT, Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_COUNT,
               Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm));
  EXPECT_CLASS(MPI_ERR_COUNT,
               Alltoallw(in, counts, places, types, out, counts, places, types, comm));
  counts[size - 1] = 1;
  types[size - 1] = MPI_DATATYPE_NULL;
  EXPECT_CLASS(MPI_ERR_TYPE,
               Alltoallw(in, counts, places, types, out, counts, places, types, comm));
}

/* These are no mistakes: calls without data may use the same buffer twice. */
static void NoData(void) {
  const int none[kRanksMax] = {0};
  EXPECT_CLASS(MPI_SUCCESS, MPI_Reduce_scatter(in, in, none, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_SUCCESS, MPI_Reduce_scatter_block(in, in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_SUCCESS, MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* These are no mistakes: displacements may be addresses. */
static void Addresses(void) {
  MPI_Count ones[kRanksMax];
  MPI_Aint to[kRanksMax];
  char heard[kRanksMax];
  const char mine = (char)rank;
  int i;
  for (i = 0; i < size; ++i) {
    ones[i] = 1;
    heard[i] = -1;
    MPI_Get_address(&heard[size - 1 - i], &to[i]);
  }
  EXPECT_CLASS(MPI_SUCCESS, MPI_Allgatherv_c(&mine, 1, MPI_CHAR, MPI_BOTTOM, ones, to, MPI_CHAR,
                                             MPI_COMM_WORLD));
  for (i = 0; i < size; ++i) EXPECT(heard[size - 1 - i] == i);
}

/* The handler of the communicator is called. */
static void Info(void) {
  const MPI_Info none = (MPI_Info)in;
  MPI_Comm made;
  EXPECT_CLASS(MPI_ERR_INFO,
               MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, none, &made));
  EXPECT_CLASS(MPI_ERR_INFO, MPI_Comm_dup_with_info(MPI_COMM_WORLD, none, &made));
}

/* These are no mistakes: a side without data may have a null buffer, and displacements may be
 * addresses. */
static void NoBuffer(void) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int ahead = rank + 1 < size, behind = rank > 0, next = rank + 1, previous = rank - 1;
  MPI_Comm line;
  MPI_Datatype type = MPI_INT;
  MPI_Aint from, to;
  int sum = -1, mine = rank, heard = -1, one = 1;
  EXPECT_CLASS(MPI_SUCCESS, MPI_Exscan(&mine, behind ? &sum : NULL, 1, MPI_INT, MPI_SUM, comm));
  EXPECT(sum == (behind ? rank * (rank - 1) / 2 : -1));
  MPI_Dist_graph_create_adjacent(comm, behind, &previous, MPI_UNWEIGHTED, ahead, &next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &line);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_SUCCESS, MPI_Neighbor_alltoall(ahead ? &mine : NULL, 1, MPI_INT,
                                                  behind ? &heard : NULL, 1, MPI_INT, line));
  EXPECT(heard == previous);
  heard = -1;
  EXPECT_CLASS(MPI_SUCCESS,
               MPI_Neighbor_allgather(&mine, 1, MPI_INT, behind ? &heard : NULL, 1, MPI_INT, line));
  EXPECT(heard == previous);
  heard = -1;
  MPI_Get_address(&mine, &from);
  MPI_Get_address(&heard, &to);
  EXPECT_CLASS(MPI_SUCCESS, MPI_Neighbor_alltoallw(MPI_BOTTOM, &one, &from, &type, MPI_BOTTOM, &one,
                                                   &to, &type, line));
  EXPECT(heard == previous);
  MPI_Comm_free(&line);
}

/* MPI_Reduce_local belongs to no communicator. */
static void Local(void) {
  EXPECT_CLASS(MPI_ERR_COUNT, MPI_Reduce_local(in, out, -1, MPI_INT, MPI_SUM));
  EXPECT_CLASS(MPI_ERR_TYPE, MPI_Reduce_local(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM));
  EXPECT_CLASS(MPI_ERR_OP, MPI_Reduce_local_c(in, out, 1, MPI_INT, MPI_OP_NULL));
  EXPECT_CLASS(MPI_ERR_BUFFER, MPI_Reduce_local_c(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM));
}

int main(int argc, char** argv) {
  int i, sum = 0;
  double real = 1;
  MPI_Datatype uncommitted;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < size; ++i) {
    counts[i] = 1;
    places[i] = i;
  }
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  for (form = kBlocking; form < kForms; ++form) EachOperation();
  Local();
  NoData();
  Addresses();
  NoBuffer();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  Info();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  EXPECT_CLASS(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
  EXPECT_CLASS(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, size, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_ROOT, MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -1, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_COUNT, MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_TYPE, MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_TYPE, MPI_Bcast(in, 1, uncommitted, 0, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_BUFFER, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_OP, MPI_Allreduce(&real, out, 1, MPI_DOUBLE, MPI_BXOR, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_BUFFER, MPI_Allreduce(in, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_BUFFER,
               MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, MPI_COMM_WORLD));
  counts[size - 1] = -2;
  EXPECT_CLASS(MPI_ERR_COUNT,
               MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
  counts[size - 1] = 1;
  EXPECT_CLASS(MPI_ERR_ARG,
               MPI_Allgatherv(in, 1, MPI_INT, out, NULL, places, MPI_INT, MPI_COMM_WORLD));
  EXPECT_CLASS(MPI_ERR_COUNT, MPI_Iallreduce(in, out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL));

  /* A longer message than the receiver expects is an error where it arrives. */
  if (size > 1) {
    const int error = MPI_Bcast(out, rank == 0 ? 4 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (size == 2) EXPECT(rank == 0 ? error == MPI_SUCCESS : ClassOf(error) == MPI_ERR_TRUNCATE);
  }

  MPI_Barrier(MPI_COMM_WORLD);
  in[0] = rank;
  EXPECT(MPI_Allreduce(in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(sum == size * (size - 1) / 2);
  MPI_Type_free(&uncommitted);
  return Passed();
}
