/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   many non-blocking collectives may be under way on one communicator, be completed in any
 *         order, and mix with blocking ones and with point-to-point; datatypes and operations may
 *         be freed while they run (MPI-5.0, section 6.12).
 * Method: a hundred of different kinds started before any is completed; completed backwards, by
 *         Waitall and by Testall; results compared with what they must be.
 */
#include "test/mpi/collective/data.h"

enum { kInFlight = 100 };

static int rank, size;

static void Sum(void* in, void* inout, int* length, MPI_Datatype* type) {
  int *a = in, *b = inout, i;
  (void)type;
  for (i = 0; i < *length; ++i) b[i] += a[i];
}

static void Check(int i, const int* buffer) {
  const int others = size * (size - 1) / 2;
  switch (i % 4) {
    case 0:
      EXPECT(buffer[0] == i + 5);
      break;
    case 1:
      EXPECT(buffer[0] == others + size * i);
      break;
    case 2:
      EXPECT(buffer[size - 1] == 100 * i + size - 1);
      break;
    default:
      break;
  }
}

static MPI_Request Begin(int i, int* in, int* out) {
  MPI_Request request;
  switch (i % 4) {
    case 0:
      *out = rank == i % size ? i + 5 : -1;
      MPI_Ibcast(out, 1, MPI_INT, i % size, MPI_COMM_WORLD, &request);
      break;
    case 1:
      *in = rank + i;
      MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
      break;
    case 2:
      *in = 100 * i + rank;
      MPI_Iallgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD, &request);
      break;
    default:
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
  }
  return request;
}

static void TestManyAtOnce(int how) {
  static MPI_Request requests[kInFlight];
  static int in[kInFlight], out[kInFlight][64];
  int i, token = rank, got = -1, sum = 0, flag = 0;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (i = 0; i < kInFlight; ++i) requests[i] = Begin(i, &in[i], out[i]);
  /* This is done while everything is under way. */
  MPI_Sendrecv(&token, 1, MPI_INT, next, 3, &got, 1, MPI_INT, previous, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT(got == previous);
  MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == size * (size - 1) / 2);
  if (how == 0) {
    for (i = kInFlight - 1; i >= 0; --i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  } else if (how == 1) {
    MPI_Waitall(kInFlight, requests, MPI_STATUSES_IGNORE);
  } else {
    while (!flag) MPI_Testall(kInFlight, requests, &flag, MPI_STATUSES_IGNORE);
  }
  for (i = 0; i < kInFlight; ++i) {
    EXPECT(requests[i] == MPI_REQUEST_NULL);
    Check(i, out[i]);
  }
}

static void TestFreedWhileRunning(void) {
  enum { kCount = 20000 };
  int *in = malloc(kCount * sizeof(int)), *out = malloc(kCount * sizeof(int)), i;
  int* spread = NewBuffer(kSpread, kCount);
  MPI_Op op;
  MPI_Request requests[2];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MakeTypes();
  MPI_Op_create(Sum, 1, &op);
  for (i = 0; i < kCount; ++i) in[i] = i + rank;
  if (rank == 0) Fill(spread, kSpread, 0, kCount, 0, 0);
  MPI_Iallreduce(in, out, kCount, MPI_INT, op, comm, &requests[0]);
  MPI_Ibcast(spread, kCount / 2, spread_type, 0, comm, &requests[1]);
  MPI_Op_free(&op);
  MPI_Type_free(&spread_type);
  MPI_Comm_free(&comm);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < kCount && out[i] == i * size + size * (size - 1) / 2; ++i) continue;
  EXPECT(i == kCount);
  CheckFilled("bcast", spread, kSpread, 0, kCount, 0, 0);
  free(in);
  free(out);
  free(spread);
}

int main(int argc, char** argv) {
  int how;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (how = 0; how < 3; ++how) TestManyAtOnce(how);
  TestFreedWhileRunning();
  return Passed();
}
