/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Comm_idup gives what MPI_Comm_dup would have given at the time of the call, many at
 * once, beside other traffic, completed in any order (MPI-5.0, section 7.4.2).
 */
#include "test/mpi/check.h"

#if MPI_VERSION < 4 /* defined for other MPIs */
#define MPI_Comm_idup_with_info(comm, info, newcomm, request) MPI_Comm_idup(comm, newcomm, request)
#endif

#define COPIES 20

static int copied = 0;
static int Copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copied;
  *(void**)copy = value;
  *flag = 1;
  return MPI_SUCCESS;
}
static int CopyFails(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value, (void)copy, (void)flag;
  return MPI_ERR_ARG;
}

static int Sum(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int size, rank;

/* The duplicate has the attributes of the moment of the call. */
static void Moment(MPI_Comm parent) {
  MPI_Comm made;
  MPI_Request request;
  int key, flag, result, value = 1, other = 2;
  void* got;
  MPI_Comm_create_keyval(Copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(parent, key, &value);
  MPI_Comm_idup(parent, &made, &request);
  MPI_Comm_set_attr(parent, key, &other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(request == MPI_REQUEST_NULL && copied == 1);
  MPI_Comm_get_attr(made, key, &got, &flag);
  EXPECT(flag && got == &value);
  MPI_Comm_compare(parent, made, &result);
  EXPECT(result == MPI_CONGRUENT);
  MPI_Comm_free(&made);
  MPI_Comm_delete_attr(parent, key);
  MPI_Comm_free_keyval(&key);
}

/* Many calls are under way with collectives between them, and complete in any order. */
static void Many(MPI_Comm parent) {
  MPI_Comm made[COPIES], blocking;
  MPI_Request requests[COPIES];
  int i, done = 0, flag;
  for (i = 0; i < COPIES; ++i) {
    MPI_Comm_idup(parent, &made[i], &requests[i]);
    if (i % 5 == 0) EXPECT(Sum(parent) == size);
    if (i % 7 == 0) {
      MPI_Comm_dup(parent, &blocking);
      EXPECT(Sum(blocking) == size);
      MPI_Comm_free(&blocking);
    }
  }
  if (rank % 2 == 0) {
    for (i = COPIES; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  } else {
    while (!done) MPI_Testall(COPIES, requests, &done, MPI_STATUSES_IGNORE);
  }
  for (i = 0; i < COPIES; ++i) {
    EXPECT(Sum(made[i]) == size);
    /* What is sent in one is not seen in another. */
    if (i > 0) {
      int in = -1, next = (rank + 1) % size, before = (rank + size - 1) % size;
      MPI_Sendrecv(&i, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before, 0, made[i], MPI_STATUS_IGNORE);
      EXPECT(in == i);
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, made[i - 1], &flag, MPI_STATUS_IGNORE);
      EXPECT(!flag);
    }
  }
  for (i = 0; i < COPIES; ++i) MPI_Comm_free(&made[i]);
}

/* With one member the call is local. */
static void Alone(void) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_SELF, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(Sum(made) == 1);
  MPI_Comm_free(&made);
}

static void Hints(MPI_Comm parent) {
  MPI_Comm made;
  MPI_Request request;
  MPI_Info hints;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_no_any_tag", "true");
  MPI_Comm_idup_with_info(parent, hints, &made, &request);
  MPI_Info_free(&hints);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(Sum(made) == size);
  MPI_Comm_free(&made);
}

static void Errors(MPI_Comm parent) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int bad_key, value = 1;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Comm_idup(MPI_COMM_NULL, &made, &request)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &made, &request)) ==
         MPI_ERR_COMM);
#ifdef MPI_ABI_VERSION
  /* The copy function of one process fails. So does its call, while those of the others succeed. */
  MPI_Comm_create_keyval(CopyFails, MPI_COMM_NULL_DELETE_FN, &bad_key, NULL);
  if (rank == size - 1) {
    MPI_Comm_set_attr(parent, bad_key, &value);
    EXPECT(ClassOf(MPI_Comm_idup(parent, &made, &request)) == MPI_ERR_ARG);
    MPI_Comm_delete_attr(parent, bad_key);
  } else {
    MPI_Comm_idup(parent, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
  }
  MPI_Comm_free_keyval(&bad_key);
#else
  (void)bad_key, (void)value, (void)CopyFails;
#endif
  EXPECT(Sum(parent) == size);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  Moment(parent);
  Many(parent);
  Alone();
  Hints(parent);
  Errors(parent);
  MPI_Comm_free(&parent);
  return Passed();
}
