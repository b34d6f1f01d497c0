/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a persistent collective may be started again and again with new data in its buffers, with
 *         many others under way, in any mixture with blocking ones; what it was made from (types,
 *         operations, arrays, the communicator) may be gone by then; a request that is inactive
 *         waits for nothing, and is freed by MPI_Request_free (MPI-5.0, sections 3.9 and 6.13).
 * Method: every operation made once and started five times, alone and by MPI_Startall; completed by
 *         Wait, Test, Waitall and Waitany; results compared with what they must be.
 */
#include "test/mpi/collective/data.h"

enum { kStarts = 5, kRanksMax = 64, kCount = 6 };

static int rank, size;
static MPI_Comm comm;

static void Sum(void* in, void* inout, int* length, MPI_Datatype* type) {
  int *a = in, *b = inout, i;
  (void)type;
  for (i = 0; i < *length; ++i) b[i] += a[i];
}

enum Kind {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kInPlace,
  kKinds
};

struct Operation {
  MPI_Request request;
  int in[kCount * kRanksMax], out[kCount * kRanksMax];
};
static struct Operation operations[kKinds];

/* Arrays of arguments have to stay until the request is freed. */
static int counts[kRanksMax], places[kRanksMax], bytes[kRanksMax];
static MPI_Datatype types[kRanksMax];

static void Make(enum Kind kind, MPI_Datatype pair, MPI_Op sum) {
  struct Operation* it = &operations[kind];
  MPI_Request* r = &it->request;
  int *in = it->in, *out = it->out;
  const int root = size / 2, n = kCount;
  const MPI_Info none = MPI_INFO_NULL;
  switch (kind) {
    case kBarrier:
      MPI_Barrier_init(comm, none, r);
      break;
    case kBcast:
      MPI_Bcast_init(out, n / 2, pair, root, comm, none, r);
      break;
    case kGather:
      MPI_Gather_init(in, n / 2, pair, out, n, MPI_INT, root, comm, none, r);
      break;
    case kGatherv:
      MPI_Gatherv_init(in, n, MPI_INT, out, counts, places, MPI_INT, root, comm, none, r);
      break;
    case kScatter:
      MPI_Scatter_init(in, n, MPI_INT, out, n / 2, pair, root, comm, none, r);
      break;
    case kScatterv:
      MPI_Scatterv_init(in, counts, places, MPI_INT, out, n, MPI_INT, root, comm, none, r);
      break;
    case kAllgather:
      MPI_Allgather_init(in, n, MPI_INT, out, n / 2, pair, comm, none, r);
      break;
    case kAllgatherv:
      MPI_Allgatherv_init(in, n, MPI_INT, out, counts, places, MPI_INT, comm, none, r);
      break;
    case kAlltoall:
      MPI_Alltoall_init(in, n, MPI_INT, out, n / 2, pair, comm, none, r);
      break;
    case kAlltoallv:
      MPI_Alltoallv_init(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm, none, r);
      break;
    case kAlltoallw:
      MPI_Alltoallw_init(in, counts, bytes, types, out, counts, bytes, types, comm, none, r);
      break;
    case kReduce:
      MPI_Reduce_init(in, out, n, MPI_INT, sum, root, comm, none, r);
      break;
    case kAllreduce:
      MPI_Allreduce_init(in, out, n, MPI_INT, sum, comm, none, r);
      break;
    case kReduceScatter:
      MPI_Reduce_scatter_init(in, out, counts, MPI_INT, sum, comm, none, r);
      break;
    case kReduceScatterBlock:
      MPI_Reduce_scatter_block_init(in, out, n, MPI_INT, sum, comm, none, r);
      break;
    case kScan:
      MPI_Scan_init(in, out, n, MPI_INT, MPI_SUM, comm, none, r);
      break;
    case kExscan:
      MPI_Exscan_init(in, out, n, MPI_INT, sum, comm, none, r);
      break;
    default:
      MPI_Allreduce_init(MPI_IN_PLACE, out, n, MPI_INT, sum, comm, none, r);
  }
}

/* Returns what rank `from` gives to block `to` in start `turn`. */
static int Value(enum Kind kind, int turn, int from, int to, int k) {
  return kind * 100000 + turn * 10000 + from * 100 + to * 10 + k;
}

static void FillIn(enum Kind kind, int turn) {
  struct Operation* it = &operations[kind];
  int to, k;
  for (to = 0; to < size; ++to)
    for (k = 0; k < kCount; ++k) {
      it->in[to * kCount + k] = Value(kind, turn, rank, to, k);
      it->out[to * kCount + k] = -1;
      if (kind == kInPlace || (kind == kBcast && rank == size / 2))
        it->out[to * kCount + k] = it->in[to * kCount + k];
    }
}

/* Returns the sum of what ranks [0, end) give to block `to`. */
static int SumOf(enum Kind kind, int turn, int end, int to, int k) {
  int from, sum = 0;
  for (from = 0; from < end; ++from) sum += Value(kind, turn, from, to, k);
  return sum;
}

static void CheckOut(enum Kind kind, int turn) {
  const struct Operation* it = &operations[kind];
  const int root = size / 2;
  int r, k;
  for (k = 0; k < kCount; ++k) {
    for (r = 0; r < size; ++r) {
      const int got = it->out[r * kCount + k];
      if (kind == kAllgather || kind == kAllgatherv ||
          ((kind == kGather || kind == kGatherv) && rank == root))
        EXPECT(got == Value(kind, turn, r, 0, k));
      if (kind == kAlltoall || kind == kAlltoallv || kind == kAlltoallw)
        EXPECT(got == Value(kind, turn, r, rank, k));
    }
    if (kind == kBcast) EXPECT(it->out[k] == Value(kind, turn, root, 0, k));
    if (kind == kScatter || kind == kScatterv)
      EXPECT(it->out[k] == Value(kind, turn, root, rank, k));
    if (kind == kAllreduce || kind == kInPlace || (kind == kReduce && rank == root))
      EXPECT(it->out[k] == SumOf(kind, turn, size, 0, k));
    if (kind == kReduceScatter || kind == kReduceScatterBlock)
      EXPECT(it->out[k] == SumOf(kind, turn, size, rank, k));
    if (kind == kScan) EXPECT(it->out[k] == SumOf(kind, turn, rank + 1, 0, k));
    if (kind == kExscan && rank > 0) EXPECT(it->out[k] == SumOf(kind, turn, rank, 0, k));
  }
}

static void MakeAll(void) {
  MPI_Datatype pair;
  MPI_Op sum;
  int r, kind;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(Sum, 1, &sum);
  for (r = 0; r < size; ++r) {
    counts[r] = kCount;
    places[r] = r * kCount;
    bytes[r] = places[r] * (int)sizeof(int);
    types[r] = MPI_INT;
  }
  for (kind = 0; kind < kKinds; ++kind) Make(kind, pair, sum);
#ifndef LAMINA_TEST_NO_ERRORS
  MPI_Type_free(&pair);
  MPI_Op_free(&sum);
  MPI_Comm_free(&comm);
#endif
}

static void OneAfterTheOther(int turn) {
  int kind, flag, sum = 0;
  for (kind = 0; kind < kKinds; ++kind) {
    MPI_Request* request = &operations[kind].request;
#ifndef LAMINA_TEST_NO_ERRORS /* inactive: completes at once, with an empty status */
    MPI_Status status;
    MPI_Wait(request, &status);
    EXPECT(status.MPI_SOURCE == MPI_ANY_SOURCE && *request != MPI_REQUEST_NULL);
#endif
    FillIn(kind, turn);
    MPI_Start(request);
    if (kind % 2 == 0) {
      MPI_Wait(request, MPI_STATUS_IGNORE);
    } else {
      for (flag = 0; !flag;) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
    CheckOut(kind, turn);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == size * (size - 1) / 2);
}

static void AllAtOnce(int turn) {
  MPI_Request requests[kKinds];
  int kind, index, done = 0;
  for (kind = 0; kind < kKinds; ++kind) {
    FillIn(kind, turn);
    requests[kind] = operations[kind].request;
  }
  MPI_Startall(kKinds, requests);
  if (turn % 2 == 0) {
    MPI_Waitall(kKinds, requests, MPI_STATUSES_IGNORE);
  } else {
    for (;; ++done) {
      MPI_Waitany(kKinds, requests, &index, MPI_STATUS_IGNORE);
      if (index == MPI_UNDEFINED) break;
      CheckOut(index, turn);
    }
    EXPECT(done == kKinds);
  }
  for (kind = 0; kind < kKinds; ++kind) {
    EXPECT(requests[kind] == operations[kind].request);
    CheckOut(kind, turn);
  }
}

/* A long broadcast of data with holes is packed anew by every start. */
static void Spread(void) {
  enum { kLong = 30000 };
  int* buffer = NewBuffer(kSpread, kLong);
  int turn;
  MPI_Request request;
  MakeTypes();
  MPI_Bcast_init(buffer, kLong / 2, spread_type, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
#ifndef LAMINA_TEST_NO_ERRORS
  MPI_Type_free(&spread_type);
#endif
  for (turn = 0; turn < kStarts; ++turn) {
    Fill(buffer, kSpread, 0, kLong, rank, turn);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CheckFilled("bcast", buffer, kSpread, 0, kLong, size - 1, turn);
    CheckHoles("bcast", buffer, kSpread, kLong);
  }
  MPI_Request_free(&request);
  free(buffer);
}

/* A request that is freed while it is active completes all the same, and no result is missing. */
static void FreedWhileActive(void) {
  static int in, out;
  MPI_Request request;
  int mine, all = -1;
  in = rank;
  out = -1;
  MPI_Allreduce_init(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL);
  while (all != size - 1) {
    mine = out;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
}

static void Errors(void) {
  MPI_Request request = MPI_REQUEST_NULL, active;
  MPI_Info freed;
  int one = 1, sum = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Info_create(&freed);
  MPI_Info_free(&freed);
  EXPECT(ClassOf(MPI_Barrier_init(MPI_COMM_WORLD, (MPI_Info)&one, &request)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Barrier_init(MPI_COMM_NULL, freed, &request)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Barrier_init(MPI_COMM_WORLD, freed, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Bcast_init(&one, -1, MPI_INT, 0, MPI_COMM_WORLD, freed, &request)) ==
         MPI_ERR_COUNT);
  EXPECT(request == MPI_REQUEST_NULL);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &active);
  MPI_Start(&active);
  EXPECT(ClassOf(MPI_Start(&active)) == MPI_ERR_REQUEST);
  MPI_Wait(&active, MPI_STATUS_IGNORE);
  EXPECT(sum == size);
  MPI_Request_free(&active);
  EXPECT(ClassOf(MPI_Start(&active)) == MPI_ERR_REQUEST);
}

int main(int argc, char** argv) {
  int turn, kind;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MakeAll();
  for (turn = 0; turn < kStarts; ++turn) {
    OneAfterTheOther(turn);
    AllAtOnce(turn);
  }
  for (kind = 0; kind < kKinds; ++kind) MPI_Request_free(&operations[kind].request);
  Spread();
#ifndef LAMINA_TEST_NO_ERRORS
  FreedWhileActive();
  Errors();
#endif
  return Passed();
}
