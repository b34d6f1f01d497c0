/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the functions of a generalized request are called exactly when MPI-5.0, section 13.2,
 *         says: query_fn by every call that completes the request or looks at its status, free_fn
 *         once, by the completing call or by the later of MPI_Request_free and
 *         MPI_Grequest_complete, cancel_fn by MPI_Cancel; their errors come back.
 * Method: functions that count their calls; every flavour of wait and test; statuses ignored and
 *         not; errors of every function.
 */
#include "test/mpi/check.h"

struct State {
  int queries, frees, cancels, cancelled_when_complete;
  int bytes; /* what the query reports */
  int query_error, free_error, cancel_error;
};

static int Query(void* argument, MPI_Status* status) {
  struct State* state = argument;
  ++state->queries;
  MPI_Status_set_elements(status, MPI_BYTE, state->bytes);
  MPI_Status_set_cancelled(status, state->cancels);
  status->MPI_SOURCE = 11;
  status->MPI_TAG = 12;
  return state->query_error;
}

static int Free(void* argument) {
  struct State* state = argument;
  ++state->frees;
  return state->free_error;
}

static int Cancel(void* argument, int complete) {
  struct State* state = argument;
  ++state->cancels;
  state->cancelled_when_complete = complete;
  return state->cancel_error;
}

static MPI_Request Begin(struct State* state, int bytes) {
  MPI_Request request = MPI_REQUEST_NULL;
  memset(state, 0, sizeof *state);
  state->bytes = bytes;
  EXPECT(MPI_Grequest_start(Query, Free, Cancel, state, &request) == MPI_SUCCESS);
  EXPECT(request != MPI_REQUEST_NULL);
  return request;
}

static int IsReport(const MPI_Status* status, int bytes) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return count == bytes && status->MPI_SOURCE == 11 && status->MPI_TAG == 12;
}

static void WaitAndTest(void) {
  struct State state;
  MPI_Status status;
  int flag = 1;
  MPI_Request request = Begin(&state, 5);
  MPI_Test(&request, &flag, &status);
  EXPECT(!flag && state.queries == 0 && state.frees == 0);
  MPI_Grequest_complete(request);
  EXPECT(state.queries == 0 && state.frees == 0);
  status.MPI_ERROR = 77;
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
  EXPECT(state.queries == 1 && state.frees == 1 && request == MPI_REQUEST_NULL);
  EXPECT(IsReport(&status, 5) && status.MPI_ERROR == 77);

  request = Begin(&state, 6);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE); /* the query gets a status all the same */
  EXPECT(state.queries == 1 && state.frees == 1);

  request = Begin(&state, 7);
  MPI_Grequest_complete(request);
  MPI_Test(&request, &flag, &status);
  EXPECT(flag && IsReport(&status, 7) && state.queries == 1 && state.frees == 1);
}

static void Looks(void) {
  struct State state;
  MPI_Status status;
  int flag = 1;
  MPI_Request request = Begin(&state, 8);
  MPI_Request_get_status(request, &flag, &status);
  EXPECT(!flag && state.queries == 0);
  MPI_Grequest_complete(request);
  for (int look = 1; look <= 3; ++look) {
    flag = 0;
    MPI_Request_get_status(request, &flag, &status);
    EXPECT(flag && IsReport(&status, 8) && state.queries == look && state.frees == 0);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(state.queries == 4 && state.frees == 1);
}

static void Several(void) {
  enum { kCount = 4 };
  struct State states[kCount];
  MPI_Request requests[kCount + 1];
  MPI_Status statuses[kCount + 1], status;
  int index = -1, flag = 1, done = -1, indices[kCount + 1];
  for (int i = 0; i < kCount; ++i) requests[i] = Begin(&states[i], 20 + i);
  requests[kCount] = MPI_REQUEST_NULL;
  MPI_Testall(kCount + 1, requests, &flag, statuses);
  EXPECT(!flag);
  MPI_Testany(kCount + 1, requests, &index, &flag, &status);
  EXPECT(!flag && index == MPI_UNDEFINED);

  MPI_Grequest_complete(requests[2]);
  MPI_Waitany(kCount + 1, requests, &index, &status);
  EXPECT(index == 2 && IsReport(&status, 22) && requests[2] == MPI_REQUEST_NULL);
  EXPECT(states[2].queries == 1 && states[2].frees == 1);

  MPI_Grequest_complete(requests[0]);
  MPI_Testsome(kCount + 1, requests, &done, indices, statuses);
  EXPECT(done == 1 && indices[0] == 0 && IsReport(&statuses[0], 20));
  EXPECT(states[0].queries == 1 && states[0].frees == 1 && states[1].queries == 0);

  MPI_Grequest_complete(requests[1]);
  MPI_Grequest_complete(requests[3]);
  EXPECT(MPI_Waitall(kCount + 1, requests, statuses) == MPI_SUCCESS);
  EXPECT(IsReport(&statuses[1], 21) && IsReport(&statuses[3], 23));
  EXPECT(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && statuses[0].MPI_TAG == MPI_ANY_TAG);
  for (int i = 0; i < kCount; ++i) EXPECT(states[i].queries == 1 && states[i].frees == 1);
}

static void WithMessages(void) {
  struct State state;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  int out = 3, in = -1, count = -1;
  requests[0] = Begin(&state, 30);
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
  MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[2]);
  MPI_Grequest_complete(requests[0]);
  MPI_Waitall(3, requests, statuses);
  MPI_Get_count(&statuses[1], MPI_INT, &count);
  EXPECT(IsReport(&statuses[0], 30) && in == 3 && count == 1 && statuses[1].MPI_TAG == 1);
}

static void FreedAndCancelled(void) {
  struct State state;
  MPI_Status status;
  int flag = 0;
  MPI_Request request = Begin(&state, 1), copy = request;
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL && state.frees == 0);
  MPI_Grequest_complete(copy); /* the copy of the handle is good until now */
  EXPECT(state.frees == 1 && state.queries == 0);

  request = Begin(&state, 1);
  MPI_Grequest_complete(request);
  EXPECT(state.frees == 0);
  MPI_Request_free(&request);
  EXPECT(state.frees == 1 && state.queries == 0);

  request = Begin(&state, 1);
  MPI_Cancel(&request);
  EXPECT(state.cancels == 1 && state.cancelled_when_complete == 0);
  MPI_Grequest_complete(request);
  MPI_Cancel(&request);
  EXPECT(state.cancels == 2 && state.cancelled_when_complete == 1);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  EXPECT(flag && state.frees == 1);
}

static void ErrorsComeBack(void) {
  struct State state, other;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int error_class, cancel_code, free_code, query_code, flag = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &cancel_code);
  MPI_Add_error_code(error_class, &free_code);
  MPI_Add_error_code(error_class, &query_code);

  requests[0] = Begin(&state, 1);
  state.cancel_error = cancel_code;
  EXPECT(MPI_Cancel(&requests[0]) == cancel_code);
  MPI_Grequest_complete(requests[0]);
  state.query_error = query_code;
  EXPECT(MPI_Request_get_status(requests[0], &flag, &statuses[0]) == query_code);
  state.query_error = MPI_SUCCESS;
  state.free_error = free_code;
  EXPECT(MPI_Wait(&requests[0], &statuses[0]) == free_code);
  EXPECT(requests[0] == MPI_REQUEST_NULL && state.frees == 1);

#ifdef MPI_ABI_VERSION
  /* The error of a query is not lost where the free function succeeds; else the last one counts. */
  requests[0] = Begin(&state, 1);
  state.query_error = query_code;
  MPI_Grequest_complete(requests[0]);
  EXPECT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == query_code && state.frees == 1);
  requests[0] = Begin(&state, 1);
  state.query_error = query_code;
  state.free_error = free_code;
  MPI_Grequest_complete(requests[0]);
  EXPECT(MPI_Test(&requests[0], &flag, &statuses[0]) == free_code && state.frees == 1);
  requests[0] = Begin(&state, 1);
  state.query_error = query_code;
  MPI_Grequest_complete(requests[0]);
  EXPECT(ClassOf(MPI_Waitall(1, requests, statuses)) == MPI_ERR_IN_STATUS);
  EXPECT(statuses[0].MPI_ERROR == query_code);
#endif

  requests[0] = Begin(&state, 1);
  requests[1] = Begin(&other, 2);
  other.free_error = free_code;
  MPI_Grequest_complete(requests[0]);
  MPI_Grequest_complete(requests[1]);
  EXPECT(ClassOf(MPI_Waitall(2, requests, statuses)) == MPI_ERR_IN_STATUS);
  EXPECT(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == free_code);
  EXPECT(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);

  requests[0] = Begin(&state, 1);
  MPI_Grequest_complete(requests[0]);
  EXPECT(ClassOf(MPI_Start(&requests[0])) == MPI_ERR_REQUEST);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  EXPECT(ClassOf(MPI_Grequest_complete(MPI_REQUEST_NULL)) == MPI_ERR_REQUEST);
}

#ifdef MPI_ABI_VERSION
/* Other MPIs do not check these, because the standard only calls them erroneous. */
static void MisuseIsNoticed(void) {
  struct State state;
  MPI_Request request = Begin(&state, 1), receive;
  int value = 0;
  MPI_Grequest_complete(request);
  EXPECT(ClassOf(MPI_Grequest_complete(request)) == MPI_ERR_REQUEST);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(state.frees == 1);
  MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &receive);
  EXPECT(ClassOf(MPI_Grequest_complete(receive)) == MPI_ERR_REQUEST);
  MPI_Cancel(&receive);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  EXPECT(ClassOf(MPI_Grequest_start(Query, Free, Cancel, &state, NULL)) == MPI_ERR_ARG);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  WaitAndTest();
  Looks();
  Several();
  WithMessages();
  FreedAndCancelled();
  ErrorsComeBack();
#ifdef MPI_ABI_VERSION
  MisuseIsNoticed();
#endif
  return Passed();
}
