/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every mistake in the use of windows is found and has its error class (MPI-5.0, section
 *         12.6), each function of the chapter can fail, and a failing call changes nothing.
 * Method: one line for each mistake, on windows of MPI_COMM_WORLD and MPI_COMM_SELF.
 */
#include <stdint.h>

#include "test/mpi/check.h"

#define FAILS(error_class, call) EXPECT(ClassOf(call) == error_class)

static int rank, ranks;
static int memory[16], data[16], got[16];
static MPI_Win win, dynamic, none, freed;

static void Nothing(MPI_Win* which, int* code, ...) { (void)which, (void)code; }

static void Handles(void) {
  void* base = NULL;
  int flag = 0, unit = 0, length = 0, key = MPI_KEYVAL_INVALID;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Aint size = 0, wide = 0;
  MPI_Info info;
  MPI_Group group;
  MPI_Request request;
  MPI_Errhandler handler;
  const MPI_Win bad[] = {MPI_WIN_NULL, freed};
  for (int i = 0; i < 2; ++i) {
    MPI_Win it = bad[i];
    FAILS(MPI_ERR_WIN, MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it));
    FAILS(MPI_ERR_WIN, MPI_Put_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it));
    FAILS(MPI_ERR_WIN, MPI_Get(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it));
    FAILS(MPI_ERR_WIN, MPI_Get_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it));
    FAILS(MPI_ERR_WIN, MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it));
    FAILS(MPI_ERR_WIN, MPI_Accumulate_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it));
    FAILS(MPI_ERR_WIN,
          MPI_Get_accumulate(data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it));
    FAILS(MPI_ERR_WIN,
          MPI_Get_accumulate_c(data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it));
    FAILS(MPI_ERR_WIN, MPI_Rput(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Rput_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Rget(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Rget_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Raccumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it, &request));
    FAILS(MPI_ERR_WIN,
          MPI_Raccumulate_c(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Rget_accumulate(data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT,
                                           MPI_SUM, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Rget_accumulate_c(data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT,
                                             MPI_SUM, it, &request));
    FAILS(MPI_ERR_WIN, MPI_Fetch_and_op(data, got, MPI_INT, 0, 0, MPI_SUM, it));
    FAILS(MPI_ERR_WIN, MPI_Compare_and_swap(data, data, got, MPI_INT, 0, 0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_fence(0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_start(MPI_GROUP_EMPTY, 0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_complete(it));
    FAILS(MPI_ERR_WIN, MPI_Win_post(MPI_GROUP_EMPTY, 0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_wait(it));
    FAILS(MPI_ERR_WIN, MPI_Win_test(it, &flag));
    FAILS(MPI_ERR_WIN, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_unlock(0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_lock_all(0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_unlock_all(it));
    FAILS(MPI_ERR_WIN, MPI_Win_flush(0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_flush_all(it));
    FAILS(MPI_ERR_WIN, MPI_Win_flush_local(0, it));
    FAILS(MPI_ERR_WIN, MPI_Win_flush_local_all(it));
    FAILS(MPI_ERR_WIN, MPI_Win_sync(it));
    FAILS(MPI_ERR_WIN, MPI_Win_attach(it, data, 4));
    FAILS(MPI_ERR_WIN, MPI_Win_detach(it, data));
    FAILS(MPI_ERR_WIN, MPI_Win_shared_query(it, 0, &size, &unit, &base));
    FAILS(MPI_ERR_WIN, MPI_Win_shared_query_c(it, 0, &size, &wide, &base));
    FAILS(MPI_ERR_WIN, MPI_Win_get_group(it, &group));
    FAILS(MPI_ERR_WIN, MPI_Win_get_info(it, &info));
    FAILS(MPI_ERR_WIN, MPI_Win_set_info(it, MPI_INFO_NULL));
    FAILS(MPI_ERR_WIN, MPI_Win_set_name(it, "x"));
    FAILS(MPI_ERR_WIN, MPI_Win_set_attr(it, key, NULL));
    FAILS(MPI_ERR_WIN, MPI_Win_get_attr(it, MPI_WIN_SIZE, &base, &flag));
    FAILS(MPI_ERR_WIN, MPI_Win_delete_attr(it, key));
    FAILS(MPI_ERR_WIN, MPI_Win_set_errhandler(it, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_WIN, MPI_Win_get_errhandler(it, &handler));
    FAILS(MPI_ERR_WIN, MPI_Win_call_errhandler(it, MPI_ERR_OTHER));
    FAILS(MPI_ERR_WIN, MPI_Win_free(&it));
  }
  FAILS(MPI_ERR_WIN, MPI_Win_get_name(freed, name, &length));
}

static void Making(void) {
  void* base = NULL;
  MPI_Comm no_comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
  MPI_Info no_info = MPI_INFO_NULL, bad_info;
  MPI_Info_create(&bad_info);
  MPI_Info copy = bad_info;
  MPI_Info_free(&bad_info);
  FAILS(MPI_ERR_COMM, MPI_Win_create(memory, 4, 1, no_info, no_comm, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_create_c(memory, 4, 1, no_info, no_comm, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_allocate(4, 1, no_info, no_comm, &base, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_allocate_c(4, 1, no_info, no_comm, &base, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_allocate_shared(4, 1, no_info, no_comm, &base, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_allocate_shared_c(4, 1, no_info, no_comm, &base, &none));
  FAILS(MPI_ERR_COMM, MPI_Win_create_dynamic(no_info, no_comm, &none));
  FAILS(MPI_ERR_INFO, MPI_Win_create(memory, 4, 1, copy, world, &none));
  MPI_Info on_last = rank == ranks - 1 ? copy : no_info;
  FAILS(MPI_ERR_INFO, MPI_Win_allocate(4, 1, on_last, world, &base, &none));
  FAILS(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 1, no_info, world, &none));
  FAILS(MPI_ERR_DISP, MPI_Win_create(memory, 4, 0, no_info, world, &none));
  FAILS(MPI_ERR_BASE, MPI_Win_create(NULL, 4, 1, no_info, world, &none));
  FAILS(MPI_ERR_SIZE, MPI_Win_create((void*)-(uintptr_t)8, 64, 1, no_info, world, &none));
  FAILS(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, no_info, world, &base, &none));
  FAILS(MPI_ERR_DISP, MPI_Win_allocate_shared(4, -1, no_info, MPI_COMM_SELF, &base, &none));
  /* What is wrong at one member is an error at all. */
  FAILS(MPI_ERR_SIZE, MPI_Win_create(memory, rank == ranks - 1 ? -1 : 4, 1, no_info, world, &none));
  FAILS(MPI_ERR_NO_MEM, MPI_Win_allocate((MPI_Aint)1 << 60, 1, no_info, world, &base, &none));
  /* Memory can be shared on one node only. */
  MPI_Comm node;
  int together = 0;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, no_info, &node);
  MPI_Comm_size(node, &together);
  MPI_Comm_free(&node);
  if (together != ranks)
    FAILS(MPI_ERR_RMA_SHARED, MPI_Win_allocate_shared(4, 1, no_info, world, &base, &none));
  if (ranks > 1) {
    MPI_Comm half, inter;
    MPI_Comm_split(world, rank % 2, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Intercomm_create(half, 0, world, 1 - rank % 2, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_COMM, MPI_Win_create(memory, 4, 1, no_info, inter, &none));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
  }
}

/* An int cannot say how large the unit is. */
static void WideUnit(void) {
  const MPI_Aint large = (MPI_Aint)1 << 40;
  MPI_Aint size = 0, wide = 0;
  int unit = 0;
  void *base = NULL, *place = NULL;
  MPI_Win it;
  MPI_Win_allocate_shared_c(8, large, MPI_INFO_NULL, MPI_COMM_SELF, &base, &it);
  MPI_Win_shared_query(it, 0, &size, &unit, &place);
  EXPECT(size == 8 && unit == MPI_UNDEFINED && place == base);
  MPI_Win_shared_query_c(it, 0, &size, &wide, &place);
  EXPECT(size == 8 && wide == large && place == base);
  MPI_Win_free(&it);
}

static int DeleteFails(MPI_Win it, int key, void* value, void* extra) {
  (void)it, (void)key, (void)extra;
  return *(int*)value;
}

static void Describing(void) {
  void* base = NULL;
  int flag = 0, unit = 0, key, fails = MPI_ERR_OTHER, works = MPI_SUCCESS;
  MPI_Aint size = 0;
  MPI_Errhandler handler;
  FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_shared_query(dynamic, 0, &size, &unit, &base));
  FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, data, 4));
  FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_detach(win, data));
  FAILS(MPI_ERR_RANK, MPI_Win_shared_query(win, ranks, &size, &unit, &base));
  FAILS(MPI_ERR_SIZE, MPI_Win_attach(dynamic, data, -1));
  FAILS(MPI_ERR_BASE, MPI_Win_attach(dynamic, NULL, 4));
  FAILS(MPI_ERR_SIZE, MPI_Win_attach(dynamic, (void*)-(uintptr_t)8, 64));
  EXPECT(MPI_Win_attach(dynamic, data, sizeof data) == MPI_SUCCESS);
  FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(dynamic, data + 3, 4));
  FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(dynamic, data + 1));
  EXPECT(MPI_Win_detach(dynamic, data) == MPI_SUCCESS);
  FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(dynamic, data));
  FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_WIN_BASE, data));
  FAILS(MPI_ERR_KEYVAL, MPI_Win_set_attr(win, MPI_KEYVAL_INVALID, data));
  FAILS(MPI_ERR_KEYVAL, MPI_Win_get_attr(win, MPI_KEYVAL_INVALID, &base, &flag));
  FAILS(MPI_ERR_KEYVAL, MPI_Win_delete_attr(win, MPI_KEYVAL_INVALID));
  key = MPI_KEYVAL_INVALID;
  FAILS(MPI_ERR_KEYVAL, MPI_Win_free_keyval(&key));
  FAILS(MPI_ERR_ARG, MPI_Win_create_keyval(NULL, NULL, NULL, NULL));
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, DeleteFails, &key, NULL);
  MPI_Win_set_attr(win, key, &fails);
  FAILS(MPI_ERR_OTHER, MPI_Win_delete_attr(win, key));
  FAILS(MPI_ERR_OTHER, MPI_Win_set_attr(win, key, &works));
  FAILS(MPI_ERR_OTHER, MPI_Win_free(&win)); /* and it is still there */
  fails = MPI_SUCCESS;
  EXPECT(MPI_Win_delete_attr(win, key) == MPI_SUCCESS);
  MPI_Win_free_keyval(&key);
  MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)(uintptr_t)Nothing, &handler);
  FAILS(MPI_ERR_ERRHANDLER, MPI_Win_set_errhandler(win, handler));
  MPI_Errhandler_free(&handler);
  MPI_Win_create_errhandler(Nothing, &handler);
  EXPECT(MPI_Win_set_errhandler(win, handler) == MPI_SUCCESS);
  MPI_Errhandler_free(&handler);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void User(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

static void Accesses(void) {
  MPI_Datatype uncommitted, mixed;
  MPI_Op own;
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 4};
  const MPI_Datatype types[] = {MPI_INT, MPI_FLOAT};
  double number = 0, old = 0;
  MPI_Request request;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_commit(&mixed);
  MPI_Op_create(User, 1, &own);
  MPI_Win_lock_all(0, win);
  FAILS(MPI_ERR_RANK, MPI_Put(data, 1, MPI_INT, ranks, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_RANK, MPI_Get(data, 1, MPI_INT, -7, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_COUNT, MPI_Put(data, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_COUNT, MPI_Put(data, 1, MPI_INT, 0, 0, -1, MPI_INT, win));
  /* So many elements have 0 bytes modulo 2^64. */
  const MPI_Count many = (MPI_Count)1 << 61;
  FAILS(MPI_ERR_COUNT, MPI_Put_c(data, many, MPI_LONG, 0, 0, many, MPI_LONG, win));
  FAILS(MPI_ERR_COUNT, MPI_Get_c(data, 0, MPI_LONG, 0, 0, many, MPI_LONG, win));
  FAILS(MPI_ERR_COUNT, MPI_Get_c(data, many, MPI_LONG, 0, 0, 0, MPI_LONG, win));
  FAILS(MPI_ERR_COUNT, MPI_Accumulate_c(data, many, MPI_LONG, 0, 0, many, MPI_LONG, MPI_SUM, win));
  FAILS(MPI_ERR_TYPE, MPI_Put(data, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_TYPE, MPI_Put(data, 2, MPI_INT, 0, 0, 1, uncommitted, win));
  FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_BUFFER, MPI_Put(MPI_IN_PLACE, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_BUFFER, MPI_Get(MPI_IN_PLACE, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_BUFFER, MPI_Accumulate(MPI_IN_PLACE, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win));
  FAILS(MPI_ERR_BUFFER, MPI_Fetch_and_op(data, MPI_IN_PLACE, MPI_INT, 0, 0, MPI_SUM, win));
  FAILS(MPI_ERR_BUFFER, MPI_Compare_and_swap(data, MPI_IN_PLACE, got, MPI_INT, 0, 0, win));
  const MPI_Datatype rubbish = (MPI_Datatype)(uintptr_t)54321;
  FAILS(MPI_ERR_TYPE, MPI_Put(data, 1, rubbish, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_TYPE, MPI_Put(data, 1, MPI_INT, 0, 0, 1, rubbish, win));
  FAILS(MPI_ERR_TYPE, MPI_Get(data, 1, rubbish, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_TYPE, MPI_Accumulate(data, 1, rubbish, 0, 0, 1, MPI_INT, MPI_SUM, win));
  FAILS(MPI_ERR_DISP, MPI_Put(data, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
  FAILS(MPI_ERR_TRUNCATE, MPI_Get(data, 2, MPI_INT, 0, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_RMA_RANGE, MPI_Put(data, 1, MPI_INT, rank, 16, 1, MPI_INT, win));
  FAILS(MPI_ERR_RMA_RANGE, MPI_Get(data, 2, MPI_INT, rank, 15, 2, MPI_INT, win));
  FAILS(MPI_ERR_OP, MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
  FAILS(MPI_ERR_OP, MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
  FAILS(MPI_ERR_OP, MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, own, win));
  FAILS(MPI_ERR_OP, MPI_Raccumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win, &request));
  FAILS(MPI_ERR_OP,
        MPI_Get_accumulate(data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, own, win));
  FAILS(MPI_ERR_OP, MPI_Fetch_and_op(data, got, MPI_INT, 0, 0, own, win));
  FAILS(MPI_ERR_OP, MPI_Accumulate(data, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win));
  FAILS(MPI_ERR_TYPE, MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win));
  FAILS(MPI_ERR_TYPE, MPI_Accumulate(data, 1, mixed, 0, 0, 1, mixed, MPI_REPLACE, win));
  FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(data, got, mixed, 0, 0, MPI_REPLACE, win));
  FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&number, &number, &old, MPI_DOUBLE, 0, 0, win));
  FAILS(MPI_ERR_TRUNCATE,
        MPI_Get_accumulate(data, 2, MPI_INT, got, 1, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win));
  /* MPI_PROC_NULL is a target of which nothing is expected. */
  EXPECT(MPI_Put(data, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, win) == MPI_SUCCESS);
  EXPECT(MPI_Fetch_and_op(data, got, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win) == MPI_SUCCESS);
  MPI_Win_unlock_all(win);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, dynamic);
  FAILS(MPI_ERR_RMA_RANGE, MPI_Put(data, 1, MPI_INT, rank, (MPI_Aint)memory, 1, MPI_INT, dynamic));
  MPI_Win_unlock(rank, dynamic);
  MPI_Op_free(&own);
  MPI_Type_free(&mixed);
  MPI_Type_free(&uncommitted);
  for (int i = 0; i < 16; ++i) EXPECT(memory[i] == i);
}

/* An access beyond another rank's window is found there, and told at the next synchronisation at
 * the latest. Nothing is written. */
static void Far(void) {
  const int target = (rank + 1) % ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  const int put = MPI_Put(data, 1, MPI_INT, target, 16, 1, MPI_INT, win);
  const int flushed = MPI_Win_flush(target, win);
  EXPECT(ClassOf(put) == MPI_ERR_RMA_RANGE || ClassOf(flushed) == MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Put(&rank, 1, MPI_INT, target, 0, 1, MPI_INT, win) == MPI_SUCCESS);
  EXPECT(MPI_Win_unlock(target, win) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT(memory[0] == (rank + ranks - 1) % ranks);
  memory[0] = 0;
  MPI_Win_unlock(rank, win);
  /* Nothing is attached there, or it was and is not any more. */
  MPI_Aint at;
  MPI_Get_address(data, &at);
  MPI_Win_attach(dynamic, data, sizeof data);
  MPI_Win_detach(dynamic, data);
  MPI_Sendrecv_replace(&at, 1, MPI_AINT, (rank + ranks - 1) % ranks, 0, target, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, dynamic);
  const int accumulated =
      MPI_Accumulate(&rank, 1, MPI_INT, target, at, 1, MPI_INT, MPI_REPLACE, dynamic);
  const int unlocked = MPI_Win_unlock_all(dynamic);
  EXPECT(ClassOf(accumulated) == MPI_ERR_RMA_RANGE || ClassOf(unlocked) == MPI_ERR_RMA_RANGE);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Memory that cannot be written may be read, and writing it ends nobody. */
static void ReadOnly(void) {
  static const int numbers[4] = {5, 6, 7, 8};
  const int target = (rank + 1) % ranks;
  int copy = 0, sum = 1, flushed;
  MPI_Win constant;
  if (ranks == 1) return;
  MPI_Win_create((void*)(uintptr_t)numbers, sizeof numbers, sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &constant);
  MPI_Win_set_errhandler(constant, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, constant);
  EXPECT(MPI_Get(&copy, 1, MPI_INT, target, 2, 1, MPI_INT, constant) == MPI_SUCCESS);
  EXPECT(MPI_Win_flush(target, constant) == MPI_SUCCESS && copy == 7);
  const int put = MPI_Put(&rank, 1, MPI_INT, target, 0, 1, MPI_INT, constant);
  flushed = MPI_Win_flush(target, constant);
  EXPECT(ClassOf(put) == MPI_ERR_RMA_RANGE || ClassOf(flushed) == MPI_ERR_RMA_RANGE);
  const int added = MPI_Accumulate(&sum, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, constant);
  flushed = MPI_Win_flush(target, constant);
  EXPECT(ClassOf(added) == MPI_ERR_RMA_RANGE || ClassOf(flushed) == MPI_ERR_RMA_RANGE);
  const int fetched = MPI_Fetch_and_op(&sum, &copy, MPI_INT, target, 3, MPI_NO_OP, constant);
  EXPECT(fetched == MPI_SUCCESS && MPI_Win_flush(target, constant) == MPI_SUCCESS && copy == 8);
  const int old = 5,
            swapped = MPI_Compare_and_swap(&sum, &old, &copy, MPI_INT, target, 0, constant);
  flushed = MPI_Win_flush(target, constant);
  EXPECT(ClassOf(swapped) == MPI_ERR_RMA_RANGE || ClassOf(flushed) == MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Win_unlock_all(constant) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(numbers[0] == 5 && numbers[1] == 6);
  MPI_Win_free(&constant);
}

static void Asserts(void) {
  FAILS(MPI_ERR_ASSERT, MPI_Win_fence(MPI_MODE_NOCHECK, win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_lock(MPI_LOCK_SHARED, 0, 1, win));
  FAILS(MPI_ERR_ASSERT, MPI_Win_lock_all(MPI_MODE_NOSTORE, win));
  FAILS(MPI_ERR_LOCKTYPE, MPI_Win_lock(0, 0, 0, win));
  FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
  FAILS(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win));
  FAILS(MPI_ERR_RANK, MPI_Win_unlock(MPI_PROC_NULL, win));
  FAILS(MPI_ERR_RANK, MPI_Win_flush(MPI_PROC_NULL, win));
  FAILS(MPI_ERR_RANK, MPI_Win_flush_local(ranks, win));
  FAILS(MPI_ERR_RANK, MPI_Win_flush_local(MPI_PROC_NULL, win));
}

/* Request forms belong to passive epochs. */
static void Requests(void) {
  MPI_Request request;
  FAILS(MPI_ERR_RMA_SYNC, MPI_Rput(data, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &request));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Rget(got, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &request));
  FAILS(MPI_ERR_RMA_SYNC,
        MPI_Raccumulate(data, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win, &request));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Rget_accumulate(data, 1, MPI_INT, got, 1, MPI_INT, rank, 0, 1,
                                              MPI_INT, MPI_SUM, win, &request));
}

static void Groups(void) {
  MPI_Group world, alone;
  MPI_Win self;
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_SELF, &self);
  MPI_Win_set_errhandler(self, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  FAILS(MPI_ERR_GROUP, MPI_Win_start(MPI_GROUP_NULL, 0, win));
  FAILS(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
  if (ranks > 1) {
    FAILS(MPI_ERR_GROUP, MPI_Win_start(world, 0, self));
    FAILS(MPI_ERR_GROUP, MPI_Win_post(world, 0, self));
  }
  /* The group of an access epoch says which targets it has. */
  MPI_Group_incl(world, 1, &rank, &alone);
  MPI_Win_post(alone, 0, win);
  MPI_Win_start(alone, 0, win);
  EXPECT(MPI_Put(data, 1, MPI_INT, rank, 1, 1, MPI_INT, win) == MPI_SUCCESS);
  if (ranks > 1)
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(data, 1, MPI_INT, (rank + 1) % ranks, 1, 1, MPI_INT, win));
  Requests();
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(alone, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(alone, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
  MPI_Win_complete(win);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
  MPI_Win_wait(win);
  MPI_Group_free(&alone);
  MPI_Group_free(&world);
  MPI_Win_free(&self);
}

static void Epochs(void) {
  int flag = 0;
  MPI_Request request;
  /* none */
  FAILS(MPI_ERR_RMA_SYNC, MPI_Put(data, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Put(data, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Accumulate(data, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Fetch_and_op(data, got, MPI_INT, rank, 0, MPI_SUM, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Compare_and_swap(data, data, got, MPI_INT, rank, 0, win));
  Requests();
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &flag));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(rank, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local(rank, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush_local_all(win));
  /* lock */
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
  if (ranks > 1)
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(data, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
  MPI_Win_unlock(rank, win);
  /* lock_all */
  MPI_Win_lock_all(0, win);
  for (int target = 0; target < ranks; ++target) {
    MPI_Rput(data, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request);
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Rget(got, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request);
    MPI_Win_flush(target, win);
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&request));
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
  }
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_unlock(rank, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
  MPI_Win_unlock_all(win);
  /* fence */
  MPI_Win_fence(0, win);
  MPI_Get(got, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
  Requests();
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
  MPI_Win_fence(0, win);
  /* A fence that opened an epoch that nobody used is no obstacle. */
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win) == MPI_SUCCESS);
  MPI_Win_unlock(rank, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Get(got, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
}

static void NoLocks(void) {
  MPI_Info info;
  MPI_Win unlocked;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_create(memory, sizeof memory, 4, info, MPI_COMM_WORLD, &unlocked);
  MPI_Win_set_errhandler(unlocked, MPI_ERRORS_RETURN);
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, unlocked));
  FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, unlocked));
  MPI_Info_free(&info);
  MPI_Win_free(&unlocked);
}

static int handled;

static void Count(MPI_Win* it, int* error, ...) {
  int class = 0;
  MPI_Error_class(*error, &class);
  EXPECT(*it == win && class == MPI_ERR_RMA_RANGE);
  ++handled;
}

// Errors of an access go to the window's handler, whether they are found at once or with the
// request.
static void Handler(void) {
  MPI_Errhandler counts;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Win_create_errhandler(Count, &counts);
  MPI_Win_set_errhandler(win, counts);
  MPI_Win_lock_all(0, win);
  int error = MPI_Rget(data, 1, MPI_INT, 0, 1 << 20, 1, MPI_INT, win, &request);
  EXPECT(error != MPI_SUCCESS || MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  EXPECT(handled == 1);
  MPI_Win_flush(0, win);
  MPI_Win_unlock_all(win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&counts);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 16; ++i) memory[i] = i;
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_set_errhandler(dynamic, MPI_ERRORS_RETURN);
  MPI_Win_create(memory, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &freed);
  MPI_Win gone = freed;
  MPI_Win_free(&gone);
  Handles();
  Making();
  WideUnit();
  Describing();
  Accesses();
  Far();
  ReadOnly();
  Asserts();
  Groups();
  Epochs();
  NoLocks();
  Handler();
  MPI_Win_free(&dynamic);
  MPI_Win_free(&win);
  return Passed();
}
