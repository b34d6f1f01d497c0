/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   wait and test in all flavours, also on null, inactive and empty lists of requests, set
 *         flags, indices and statuses as MPI-5.0, sections 3.7.3 to 3.7.6 and 3.9, say.
 * Method: each rank exchanges with itself and its neighbours; no call's outcome depends on timing.
 */
#include "test/mpi/check.h"

static int IsEmpty(const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 &&
         cancelled == 0;
}

static void NothingToWaitFor(void) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Request inactive;
  MPI_Status status, statuses[2];
  int flag = 0, index = 0, count = 0, indices[2], value = 0;
  EXPECT(MPI_Wait(&none[0], &status) == MPI_SUCCESS && IsEmpty(&status));
  EXPECT(MPI_Test(&none[0], &flag, &status) == MPI_SUCCESS && flag && IsEmpty(&status));
  MPI_Waitall(2, none, statuses);
  EXPECT(IsEmpty(&statuses[0]) && IsEmpty(&statuses[1]));
  MPI_Waitany(2, none, &index, &status);
  EXPECT(index == MPI_UNDEFINED && IsEmpty(&status));
  flag = 0;
  MPI_Testany(2, none, &index, &flag, &status);
  EXPECT(flag && index == MPI_UNDEFINED && IsEmpty(&status));
  MPI_Waitsome(2, none, &count, indices, statuses);
  EXPECT(count == MPI_UNDEFINED);
  MPI_Testsome(2, none, &count, indices, statuses);
  EXPECT(count == MPI_UNDEFINED);
  flag = 0;
  MPI_Testall(2, none, &flag, statuses);
  EXPECT(flag);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Waitany(0, NULL, &index, &status);
  EXPECT(index == MPI_UNDEFINED);

  MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &inactive);
  EXPECT(MPI_Wait(&inactive, &status) == MPI_SUCCESS && IsEmpty(&status));
  EXPECT(inactive != MPI_REQUEST_NULL);
  MPI_Waitany(1, &inactive, &index, &status);
  EXPECT(index == MPI_UNDEFINED);
  flag = 0;
  MPI_Request_get_status(inactive, &flag, &status);
  EXPECT(flag && IsEmpty(&status));
  MPI_Request_free(&inactive);
  EXPECT(inactive == MPI_REQUEST_NULL);
}

static void SomeOfMany(void) {
  enum { kCount = 5 };
  MPI_Request requests[kCount];
  MPI_Status statuses[kCount], status;
  int in[kCount], out[kCount], indices[kCount], seen[kCount] = {0};
  int done = 0, index = -1, flag = 1, got = 0;
  for (int i = 0; i < kCount; ++i) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  MPI_Testall(kCount, requests, &flag, statuses);
  EXPECT(!flag);
  MPI_Testany(kCount, requests, &index, &flag, &status);
  EXPECT(!flag && index == MPI_UNDEFINED);
  MPI_Testsome(kCount, requests, &got, indices, statuses);
  EXPECT(got == 0);

  out[3] = 33;
  MPI_Send(&out[3], 1, MPI_INT, 0, 3, MPI_COMM_SELF);
  MPI_Waitany(kCount, requests, &index, &status);
  EXPECT(index == 3 && requests[3] == MPI_REQUEST_NULL && in[3] == 33 && status.MPI_TAG == 3);

  for (int i = 0; i < kCount; ++i) {
    if (i == 3) continue;
    out[i] = 10 * i;
    MPI_Send(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
  }
  while (done < kCount - 1) {
    MPI_Waitsome(kCount, requests, &got, indices, statuses);
    EXPECT(got >= 1);
    for (int i = 0; i < got; ++i) {
      EXPECT(statuses[i].MPI_TAG == indices[i] && in[indices[i]] == 10 * indices[i]);
      ++seen[indices[i]];
    }
    done += got;
  }
  for (int i = 0; i < kCount; ++i) EXPECT(seen[i] == (i == 3 ? 0 : 1));
}

static void GetStatusKeepsTheRequest(void) {
  MPI_Request request;
  MPI_Status status;
  int in = 0, out = 5, flag = 1;
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Request_get_status(request, &flag, &status);
  EXPECT(!flag);
  MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  while (!flag) MPI_Request_get_status(request, &flag, &status);
  EXPECT(request != MPI_REQUEST_NULL && status.MPI_TAG == 1);
  MPI_Wait(&request, &status);
  EXPECT(request == MPI_REQUEST_NULL && in == 5);
}

static void PersistentRing(void) {
  int rank, ranks, in = -1, out = -1;
  MPI_Request both[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Recv_init(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD, &both[1]);
  for (int round = 0; round < 50; ++round) {
    out = rank * 1000 + round;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    EXPECT(in == (rank + ranks - 1) % ranks * 1000 + round);
    EXPECT(both[0] != MPI_REQUEST_NULL && both[1] != MPI_REQUEST_NULL);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

static void CancelledReceive(void) {
  MPI_Request request;
  MPI_Status status;
  int in = 0, cancelled = 0;
  MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(cancelled);
  /* The message that comes now is for the next receive. */
  int out = 77;
  MPI_Request send;
  MPI_Isend(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &send);
  MPI_Recv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &status);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(in == 77 && !cancelled);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void FreedBeforeItIsDone(void) {
  MPI_Request request;
  int out = 6, in = 0;
  MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &request);
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL);
  MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  EXPECT(in == 6);
}

static void NullProcess(void) {
  MPI_Status status;
  MPI_Request request;
  int value = 3, count = -1;
  EXPECT(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && count == 0);
  EXPECT(value == 3);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  EXPECT(status.MPI_SOURCE == MPI_PROC_NULL && request == MPI_REQUEST_NULL);
  MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  EXPECT(status.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  NothingToWaitFor();
  SomeOfMany();
  GetStatusKeepsTheRequest();
  PersistentRing();
  CancelledReceive();
  FreedBeforeItIsDone();
  NullProcess();
  return Passed();
}
