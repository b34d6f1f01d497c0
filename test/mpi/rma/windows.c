/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   windows are made, described and freed as the standard says (MPI-5.0, sections 12.2,
 *         7.7.3, 7.8 and 9.3): attributes, hints, names, groups, handlers; where parts of shared
 *         memory lie; attached memory.
 * Method: each kind of window with sizes that differ by rank, 0 among them; what the functions say
 *         compared with what was asked for, and memory written by one rank and read by another.
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank, ranks;

static void ExpectAttributes(MPI_Win win, void* base, MPI_Aint size, int disp_unit, int flavor) {
  void* value = NULL;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  EXPECT(flag && value == base);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  EXPECT(flag && *(MPI_Aint*)value == size);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
  EXPECT(flag && *(int*)value == disp_unit);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  EXPECT(flag && *(int*)value == flavor);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
  EXPECT(flag && *(int*)value == MPI_WIN_UNIFIED);
}

static void ExpectGroup(MPI_Win win, MPI_Comm comm) {
  MPI_Group of_win, of_comm;
  int result = -1;
  MPI_Win_get_group(win, &of_win);
  MPI_Comm_group(comm, &of_comm);
  MPI_Group_compare(of_win, of_comm, &result);
  EXPECT(result == MPI_IDENT);
  MPI_Group_free(&of_win);
  MPI_Group_free(&of_comm);
}

static int deleted, copied;
static int Delete(MPI_Win win, int keyval, void* value, void* extra) {
  (void)win, (void)keyval;
  EXPECT(extra == &deleted);
  deleted = deleted * 10 + *(int*)value;
  return MPI_SUCCESS;
}
static int Copy(MPI_Win win, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)win, (void)keyval, (void)extra, (void)in, (void)out;
  ++copied;
  *flag = 0;
  return MPI_SUCCESS;
}

static void Attributes(MPI_Win* win) {
  int keys[2], values[] = {1, 2, 3}, flag = 1;
  int* value = NULL;
  for (int i = 0; i < 2; ++i) MPI_Win_create_keyval(Copy, Delete, &keys[i], &deleted);
  MPI_Win_get_attr(*win, keys[0], &value, &flag);
  EXPECT(!flag);
  MPI_Win_set_attr(*win, keys[0], &values[0]);
  MPI_Win_set_attr(*win, keys[1], &values[1]);
  MPI_Win_get_attr(*win, keys[0], &value, &flag);
  EXPECT(flag && value == &values[0]);
  MPI_Win_set_attr(*win, keys[0], &values[2]);
  EXPECT(deleted == 1);
  MPI_Win_delete_attr(*win, keys[0]);
  EXPECT(deleted == 13);
  MPI_Win_set_attr(*win, keys[0], &values[0]);
  for (int i = 0; i < 2; ++i) MPI_Win_free_keyval(&keys[i]);
  EXPECT(keys[0] == MPI_KEYVAL_INVALID);
  MPI_Win_free(win);
  EXPECT(*win == MPI_WIN_NULL);
  EXPECT(deleted == 1312 || deleted == 1321); /* in any order */
  EXPECT(copied == 0);
}

static void Names(MPI_Win win) {
  char name[MPI_MAX_OBJECT_NAME] = "?";
  int length = -1;
  MPI_Win_get_name(win, name, &length);
  EXPECT(length == 0 && name[0] == '\0');
  MPI_Win_set_name(win, "halo");
  MPI_Win_get_name(win, name, &length);
  EXPECT(length == 4 && strcmp(name, "halo") == 0);
}

static int handled, handled_class;
static void Handle(MPI_Win* win, int* code, ...) {
  EXPECT(win != NULL && *win != MPI_WIN_NULL);
  ++handled;
  handled_class = ClassOf(*code);
}

static void Handlers(MPI_Win win) {
  MPI_Errhandler handler, own;
  MPI_Win_get_errhandler(win, &handler);
  EXPECT(handler == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Win_create_errhandler(Handle, &own);
  MPI_Win_set_errhandler(win, own);
  MPI_Win_get_errhandler(win, &handler);
  EXPECT(handler == own);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&own);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  EXPECT(handled == 1 && handled_class == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
  EXPECT(handled == 2 && handled_class == MPI_ERR_RMA_SYNC);
}

static void ExpectHint(MPI_Info info, const char* key, const char* wanted) {
  char value[200] = "";
  int flag = 0;
  MPI_Info_get(info, key, sizeof value - 1, value, &flag);
  EXPECT(flag && strcmp(value, wanted) == 0);
}

static void Created(void) {
  const MPI_Aint size = rank % 2 == 0 ? 80 : 0;
  double memory[10];
  MPI_Win win;
  MPI_Info info, used;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "surely_unknown", "true");
  MPI_Win_create(size != 0 ? memory : NULL, size, 1 + rank, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  ExpectAttributes(win, size != 0 ? memory : NULL, size, 1 + rank, MPI_WIN_FLAVOR_CREATE);
  ExpectGroup(win, MPI_COMM_WORLD);
  Names(win);
  MPI_Win_get_info(win, &used);
  ExpectHint(used, "no_locks", "true");
  ExpectHint(used, "same_size", "false");
  MPI_Info_free(&used);
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ops", "same_op");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_get_info(win, &used);
  ExpectHint(used, "accumulate_ops", "same_op");
  MPI_Info_free(&used);
  Handlers(win);
  Attributes(&win);
}

static void Allocated(void) {
  const MPI_Aint size = (MPI_Aint)rank * 4096;
  char* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(size, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  ExpectAttributes(win, memory, size, 8, MPI_WIN_FLAVOR_ALLOCATE);
  if (size != 0) EXPECT((uintptr_t)memory % 64 == 0);
  for (MPI_Aint i = 0; i < size; ++i) memory[i] = (char)i;
  MPI_Win_free(&win);
}

/* Each member asks for an alignment of its own, a page or more. */
static void Aligned(MPI_Comm node) {
  char *memory = NULL, text[32];
  MPI_Win win;
  MPI_Info info, used;
  for (int kind = 0; kind < 3; ++kind) {
    const int alignment = 1 << (kind == 1 ? 16 : 12 + (rank + 3) % 10);
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%d", alignment);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
    if (kind == 2) MPI_Info_set(info, "alloc_shared_noncontig", "true");
    const MPI_Aint size = 70000 + rank;
    if (kind == 0) MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, &memory, &win);
    if (kind != 0) MPI_Win_allocate_shared(size, 1, info, node, &memory, &win);
    MPI_Info_free(&info);
    MPI_Aint first_size;
    int unit, node_rank;
    void* first;
    MPI_Comm_rank(node, &node_rank);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &first_size, &unit, &first);
    /* Where parts follow each other, only the first can be aligned. */
    if (kind != 1 || node_rank == 0) EXPECT((uintptr_t)memory % (uintptr_t)alignment == 0);
    if (kind == 1) EXPECT((uintptr_t)first % (uintptr_t)alignment == 0);
    memset(memory, rank + 1, (size_t)size);
    MPI_Win_fence(0, win);
    EXPECT(memory[0] == rank + 1 && memory[size - 1] == rank + 1);
    MPI_Win_get_info(win, &used);
    ExpectHint(used, "mpi_minimum_memory_alignment", text);
    MPI_Info_free(&used);
    MPI_Win_free(&win);
  }
}

/* Sizes by rank: all the same, none, or 0 for some. */
static MPI_Aint SizeOf(int kind, int who) {
  return kind == 0 ? 40 : kind == 1 ? 0 : who % 2 == kind - 2 ? 0 : 8 * (who + 1);
}

static void Shared(MPI_Comm node, int kind, int noncontiguous) {
  int node_rank, node_ranks, unit = -1;
  char *memory = NULL, *next = NULL, *part = NULL;
  MPI_Aint size = -1;
  MPI_Win win;
  MPI_Info info;
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_ranks);
  MPI_Info_create(&info);
  if (noncontiguous) MPI_Info_set(info, "alloc_shared_noncontig", "true");
  MPI_Win_allocate_shared(SizeOf(kind, node_rank), 4, info, node, &memory, &win);
  MPI_Info_free(&info);
  ExpectAttributes(win, memory, SizeOf(kind, node_rank), 4, MPI_WIN_FLAVOR_SHARED);
  for (MPI_Aint i = 0; i < SizeOf(kind, node_rank); ++i) memory[i] = (char)(node_rank + i);
  MPI_Win_fence(0, win);
  int first = -1;
  for (int r = 0; r < node_ranks; ++r) {
    MPI_Win_shared_query(win, r, &size, &unit, &part);
    EXPECT(size == SizeOf(kind, r) && unit == 4);
    if (r == node_rank && size != 0) EXPECT(part == memory);
    if (size != 0 && first < 0) {
      first = r;
      EXPECT((uintptr_t)part % 16 == 0);
      next = part;
    }
    if (!noncontiguous && first >= 0) {
      EXPECT(part == next);
      next = part + size;
    }
    for (MPI_Aint i = 0; i < size; ++i) EXPECT(part[i] == (char)(r + i));
  }
  MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &part);
  EXPECT(size == (first < 0 ? 0 : SizeOf(kind, first)));
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* The next rank is written and the previous one heard of; no region is known to be the last. */
static void Attached(void) {
  enum { kRegions = 60 };
  int* memory[kRegions];
  MPI_Aint addresses[kRegions], theirs[kRegions];
  MPI_Win win;
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  ExpectAttributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_fence(0, win);
  MPI_Win_fence(0, win); /* nothing is attached */
  for (int i = 0; i < kRegions; ++i) {
    memory[i] = calloc((size_t)i + 1, sizeof(int));
    EXPECT(MPI_Win_attach(win, memory[i], (i + 1) * (MPI_Aint)sizeof(int)) == MPI_SUCCESS);
    MPI_Get_address(memory[i], &addresses[i]);
  }
  MPI_Sendrecv(addresses, kRegions, MPI_AINT, from, 0, theirs, kRegions, MPI_AINT, to, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_fence(0, win);
  int values[kRegions];
  for (int i = 0; i < kRegions; ++i) {
    values[i] = 1000 * rank + i;
    const MPI_Aint last = MPI_Aint_add(theirs[i], i * (MPI_Aint)sizeof(int));
    MPI_Put(&values[i], 1, MPI_INT, to, last, 1, MPI_INT, win);
  }
  MPI_Win_fence(0, win);
  for (int i = 0; i < kRegions; ++i) EXPECT(memory[i][i] == 1000 * from + i);
  /* One access may reach several regions. */
  int lengths[kRegions];
  for (int i = 0; i < kRegions; ++i) lengths[i] = 1;
  MPI_Datatype scattered;
  MPI_Type_create_hindexed(kRegions, lengths, theirs, MPI_INT, &scattered);
  MPI_Type_commit(&scattered);
  MPI_Put(values, kRegions, MPI_INT, to, 0, 1, scattered, win);
  MPI_Type_free(&scattered);
  MPI_Win_fence(0, win);
  for (int i = 1; i < kRegions; ++i) EXPECT(memory[i][0] == 1000 * from + i);
  for (int i = kRegions - 1; i >= 0; i -= 2) MPI_Win_detach(win, memory[i]);
  for (int i = 0; i < kRegions; i += 2) MPI_Win_detach(win, memory[i]);
  MPI_Win_free(&win);
  for (int i = 0; i < kRegions; ++i) free(memory[i]);
}

/* Windows cost no descriptor, so their number has no limit of that kind. */
static void Many(int count) {
  MPI_Win* wins = malloc((size_t)count * sizeof *wins);
  int** memory = malloc((size_t)count * sizeof *memory);
  int* values = malloc((size_t)count * sizeof *values);
  for (int i = 0; i < count; ++i) {
    MPI_Win_allocate(sizeof(int), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i], &wins[i]);
    *memory[i] = -1;
    MPI_Win_lock_all(0, wins[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    values[i] = i;
    MPI_Put(&values[i], 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, wins[i]);
  }
  for (int i = 0; i < count; ++i) MPI_Win_unlock_all(wins[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, wins[i]);
    EXPECT(*memory[i] == i);
    MPI_Win_unlock(rank, wins[i]);
    MPI_Win_free(&wins[i]);
  }
  free(wins);
  free(memory);
  free(values);
}

#if MPI_VERSION >= 4
static void Large(void) {
  void *value = NULL, *memory = NULL;
  int flag = 0, small[4];
  MPI_Aint size = 0, unit = 0;
  const MPI_Aint large_unit = (MPI_Aint)1 << 40;
  MPI_Win win;
  MPI_Win_create_c(small, sizeof small, large_unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  EXPECT(flag && *(MPI_Aint*)value == (MPI_Aint)sizeof small);
  MPI_Win_fence(0, win);
  MPI_Put_c(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  EXPECT(small[0] == (rank + ranks - 1) % ranks);
  MPI_Win_free(&win);
  MPI_Win_allocate_c(64, large_unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_free(&win);
  MPI_Win_allocate_shared_c(64, large_unit, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
  MPI_Win_shared_query_c(win, 0, &size, &unit, &memory);
  EXPECT(size == 64 && unit == large_unit);
  MPI_Win_free(&win);
}
#endif

int main(int argc, char** argv) {
  MPI_Comm node;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  Created();
  Allocated();
  Aligned(node);
  for (int kind = 0; kind < 4; ++kind)
    for (int noncontiguous = 0; noncontiguous < 2; ++noncontiguous)
      Shared(node, kind, noncontiguous);
  Attached();
  Many(argc > 1 ? atoi(argv[1]) : 100);
#if MPI_VERSION >= 4
  Large();
#endif
  MPI_Comm_free(&node);
  return Passed();
}
