/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what is legal but rare works (MPI-5.0, chapter 12): windows and accesses without a byte,
 *         elements that are not aligned, layouts that run backwards, memory in several windows,
 *         operands of every size, communicators in another order, epochs about nobody.
 * Method: one function for each; what memory holds afterwards is known.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank, ranks;

static void Epochs(MPI_Win win) {
  MPI_Group none = MPI_GROUP_EMPTY;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Win_post(none, 0, win);
  MPI_Win_start(none, 0, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}

/* Nobody has a byte, in any kind of window, and yet every call may be made. */
static void Empty(void) {
  for (int kind = 0; kind < 4; ++kind) {
    MPI_Win win;
    char *base = NULL, byte = 1;
    MPI_Request requests[2];
    if (kind == 0) MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (kind == 1) MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (kind == 2) MPI_Win_create(&byte, 0, 5, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (kind == 3) MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    Epochs(win);
    MPI_Win_lock_all(0, win);
    for (int target = 0; target < ranks; ++target) {
      MPI_Put(NULL, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, win);
      MPI_Get(&byte, 0, MPI_INT, target, 0, 0, MPI_INT, win);
      MPI_Accumulate(NULL, 0, MPI_INT, target, 0, 0, MPI_INT, MPI_SUM, win);
      MPI_Rput(NULL, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, win, &requests[0]);
      MPI_Rget(&byte, 0, MPI_BYTE, target, 0, 0, MPI_BYTE, win, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      MPI_Win_flush(target, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    EXPECT(byte == 1);
  }
}

/* Nobody is the target of anything. */
static void NobodyIsTheTarget(void) {
  MPI_Win win;
  long *base, value = 3, got = 4, zero = 0;
  MPI_Request requests[4];
  MPI_Status status;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = 9;
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch == 0) MPI_Win_fence(0, win);
    if (epoch == 1) MPI_Win_lock_all(0, win);
    if (epoch == 2) MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 77, 1, MPI_LONG, win);
    MPI_Get(&got, 1, MPI_LONG, MPI_PROC_NULL, 77, 1, MPI_LONG, win);
    MPI_Accumulate(&value, 1, MPI_LONG, MPI_PROC_NULL, 77, 1, MPI_LONG, MPI_SUM, win);
    MPI_Get_accumulate(&value, 1, MPI_LONG, &got, 1, MPI_LONG, MPI_PROC_NULL, 77, 1, MPI_LONG,
                       MPI_SUM, win);
    MPI_Fetch_and_op(&value, &got, MPI_LONG, MPI_PROC_NULL, 77, MPI_SUM, win);
    MPI_Compare_and_swap(&value, &zero, &got, MPI_LONG, MPI_PROC_NULL, 77, win);
    if (epoch != 0) {
      MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &requests[0]);
      MPI_Rget(&got, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &requests[1]);
      MPI_Raccumulate(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, MPI_SUM, win,
                      &requests[2]);
      MPI_Rget_accumulate(&value, 1, MPI_LONG, &got, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG,
                          MPI_SUM, win, &requests[3]);
      for (int i = 0; i < 4; ++i) {
        EXPECT(MPI_Wait(&requests[i], &status) == MPI_SUCCESS);
        EXPECT(requests[i] == MPI_REQUEST_NULL);
      }
    }
    if (epoch == 0) MPI_Win_fence(0, win);
    if (epoch == 1) MPI_Win_unlock_all(win);
    if (epoch == 2) MPI_Win_unlock(rank, win);
  }
  EXPECT(got == 4 && *base == 9);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

/* Units that are no power of two and sizes that are no multiple of them; elements at odd places. */
static void Misaligned(void) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  const int size = 91 + rank, unit = 3 + rank % 4, right_size = 91 + right;
  unsigned char* base;
  MPI_Win win;
  MPI_Win_allocate(size, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, (size_t)size);
  MPI_Win_fence(0, win);
  double real = 1.5;
  long integer = 7, old = -1;
  const int right_unit = 3 + right % 4;
  /* The last byte, by the largest displacement and a type that makes up for the rest. */
  const int last = (right_size - 1) / right_unit, rest = (right_size - 1) % right_unit;
  MPI_Datatype shifted;
  MPI_Aint shift = rest;
  int one = 1;
  MPI_Type_create_hindexed(1, &one, &shift, MPI_BYTE, &shifted);
  MPI_Type_commit(&shifted);
  const unsigned char mark = (unsigned char)(100 + rank);
  MPI_Put(&mark, 1, MPI_BYTE, right, last, 1, shifted, win);
  MPI_Type_free(&shifted);
  for (int i = 0; i < 3; ++i)
    MPI_Accumulate(&real, 1, MPI_DOUBLE, right, 1, 1, MPI_DOUBLE, MPI_SUM, win);
  MPI_Accumulate(&integer, 1, MPI_LONG, right, 5, 1, MPI_LONG, MPI_BXOR, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock_all(0, win);
  MPI_Fetch_and_op(&integer, &old, MPI_LONG, right, 5, MPI_SUM, win);
  MPI_Win_flush(right, win);
  EXPECT(old == 7);
  long wanted = 14, desired = 20;
  MPI_Compare_and_swap(&desired, &wanted, &old, MPI_LONG, right, 5, win);
  MPI_Win_unlock_all(win);
  EXPECT(old == 14);
  MPI_Barrier(MPI_COMM_WORLD);
  memcpy(&real, base + unit, sizeof real);
  memcpy(&integer, base + 5 * unit, sizeof integer);
  EXPECT(real == 4.5 && integer == 20 && base[size - 1] == (unsigned char)(100 + left));
  MPI_Win_free(&win);
}

/* A type whose pieces run backwards, whose lower bound is negative, and which has holes; on both
 * sides, with an origin that is found by its absolute address. */
static void Backwards(void) {
  enum { kCells = 64 };
  int base[kCells], data[kCells], got[kCells];
  MPI_Win win;
  MPI_Datatype backwards, shifted, absolute;
  MPI_Aint address;
  const int target = (rank + 1) % ranks;
  int length = 1;
  for (int i = 0; i < kCells; ++i) base[i] = -1, data[i] = 1000 * rank + i, got[i] = -2;
  MPI_Win_create(base, sizeof base, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Type_create_hvector(8, 1, -2 * (MPI_Aint)sizeof(int), MPI_INT, &backwards);
  MPI_Type_create_resized(backwards, -15 * (MPI_Aint)sizeof(int), 16 * sizeof(int), &shifted);
  MPI_Type_commit(&shifted);
  MPI_Get_address(data, &address);
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
  MPI_Datatype sixteen;
  MPI_Type_contiguous(16, MPI_INT, &sixteen);
  MPI_Type_free(&absolute);
  MPI_Type_create_hindexed(1, &length, &address, sixteen, &absolute);
  MPI_Type_commit(&absolute);
  MPI_Win_fence(0, win);
  /* The first element goes to cell 15, the next to 13, ...; the second of the type to 31, 29, ...
   */
  MPI_Put(MPI_BOTTOM, 1, absolute, target, 15, 2, shifted, win);
  MPI_Win_fence(0, win);
  const int left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < kCells; ++i) {
    const int is_hit = i < 32 && i % 2 == 1;
    const int wanted = !is_hit ? -1 : 1000 * left + (i < 16 ? (15 - i) / 2 : 8 + (31 - i) / 2);
    EXPECT(base[i] == wanted);
  }
  MPI_Get(got + 15, 2, shifted, target, 15, 2, shifted, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < kCells; ++i) {
    const int is_hit = i < 32 && i % 2 == 1;
    EXPECT(got[i] == (is_hit ? 1000 * rank + (i < 16 ? (15 - i) / 2 : 8 + (31 - i) / 2) : -2));
  }
  MPI_Accumulate(got + 15, 2, shifted, target, 15, 2, shifted, MPI_SUM, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 32; ++i) {
    const int value = 1000 * left + (i < 16 ? (15 - i) / 2 : 8 + (31 - i) / 2);
    EXPECT(base[i] == (i % 2 == 1 ? 2 * value : -1));
  }
  MPI_Win_free(&win);
  MPI_Type_free(&sixteen);
  MPI_Type_free(&absolute);
  MPI_Type_free(&shifted);
  MPI_Type_free(&backwards);
}

/* The same memory in two windows, one of which has part of it; and an access of a process to itself
 * whose origin lies in the window too. */
static void TwoWindows(void) {
  enum { kCells = 40 };
  int* base = malloc(kCells * sizeof *base);
  const int target = (rank + 1) % ranks;
  MPI_Win whole, part;
  for (int i = 0; i < kCells; ++i) base[i] = i;
  MPI_Win_create(base, kCells * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                 &whole);
  MPI_Win_create(base + 10, 10 * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL,
                 MPI_COMM_WORLD, &part);
  MPI_Win_lock_all(0, whole);
  MPI_Win_lock_all(0, part);
  int value = 100 + rank, got = -1;
  MPI_Put(&value, 1, MPI_INT, target, 3, 1, MPI_INT, part);
  MPI_Win_flush(target, part);
  MPI_Get(&got, 1, MPI_INT, target, 13, 1, MPI_INT, whole);
  MPI_Win_flush(target, whole);
  EXPECT(got == value);
  MPI_Put(base, 4, MPI_INT, rank, 30, 4, MPI_INT, whole);
  MPI_Win_flush(rank, whole);
  MPI_Win_unlock_all(part);
  MPI_Win_unlock_all(whole);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(base[13] == 100 + (rank + ranks - 1) % ranks);
  for (int i = 0; i < 4; ++i) EXPECT(base[30 + i] == i);
  MPI_Win_free(&whole);
  MPI_Win_free(&part);
  free(base);
}

/* Elements of 1 to 32 bytes, with holes or not. */
static void Elements(void) {
  const struct {
    long double value;
    int index;
  } mine = {(long double)(10 + rank), rank};
  struct {
    long double value;
    int index;
  } * memory, got;
  MPI_Win win;
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memset(memory, 0x5a, sizeof *memory);
  memory->value = 0;
  memory->index = -1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&mine, 1, MPI_LONG_DOUBLE_INT, 0, 0, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    EXPECT(memory->value == 10 + ranks - 1 && memory->index == ranks - 1);
    EXPECT(((unsigned char*)memory)[sizeof *memory - 1] == 0x5a);
  }
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_LONG_DOUBLE_INT, 0, 0, 1,
                     MPI_LONG_DOUBLE_INT, MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  EXPECT(got.value == 10 + ranks - 1 && got.index == ranks - 1);
  double complex_one[2] = {1, rank}, complex_sum[2];
  double zero[2] = {0, 0};
  if (rank == 0) memcpy(memory, zero, sizeof zero);
  MPI_Win_fence(0, win);
  MPI_Accumulate(complex_one, 1, MPI_C_DOUBLE_COMPLEX, 0, 0, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    memcpy(complex_sum, memory, sizeof complex_sum);
    EXPECT(complex_sum[0] == ranks && complex_sum[1] == ranks * (ranks - 1) / 2);
  }
  /* Single bytes beside each other, by all at once. */
  MPI_Win_fence(0, win);
  if (rank == 0) memset(memory, 0, sizeof *memory);
  MPI_Win_fence(0, win);
  const unsigned char one = 1;
  for (int i = 0; i < 8; ++i)
    for (int again = 0; again < 10; ++again)
      MPI_Accumulate(&one, 1, MPI_UNSIGNED_CHAR, 0, i, 1, MPI_UNSIGNED_CHAR, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (rank == 0)
    for (int i = 0; i < 8; ++i) EXPECT(((unsigned char*)memory)[i] == 10 * ranks);
  MPI_Win_free(&win);
}

/* Windows of communicators in reverse order and of some ranks only, alive at the same time. */
static void Orders(void) {
  MPI_Comm reverse, some;
  MPI_Win all, few = MPI_WIN_NULL;
  int *base, *few_base = NULL, me, members;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &some);
  MPI_Comm_rank(reverse, &me);
  MPI_Win_allocate((ranks + 1) * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, reverse,
                   &base, &all);
  MPI_Win_allocate(sizeof *few_base, 1, MPI_INFO_NULL, some, &few_base, &few);
  MPI_Comm_free(&reverse);
  *few_base = 0;
  MPI_Win_fence(0, all);
  for (int target = 0; target < ranks; ++target)
    MPI_Put(&rank, 1, MPI_INT, target, me, 1, MPI_INT, all);
  MPI_Win_fence(0, all);
  for (int i = 0; i < ranks; ++i) EXPECT(base[i] == ranks - 1 - i);
  MPI_Comm_size(some, &members);
  MPI_Barrier(some);
  MPI_Win_lock_all(0, few);
  const int one = 1;
  for (int target = 0; target < members; ++target)
    MPI_Accumulate(&one, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, few);
  MPI_Win_unlock_all(few);
  MPI_Barrier(some);
  EXPECT(*few_base == members);
  MPI_Win_free(&all);
  MPI_Win_free(&few);
  MPI_Comm_free(&some);
}

/* Attached memory comes and goes while others have the window locked. */
static void Attaching(void) {
  enum { kBytes = 4096, kRounds = 30 };
  const int target = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  char* stays = calloc(kBytes, 1);
  MPI_Win_attach(win, stays, kBytes);
  for (int i = 0; i < kRounds; ++i) {
    char* memory = malloc(kBytes);
    MPI_Aint mine, theirs, last;
    memset(memory, 1, kBytes);
    MPI_Win_attach(win, memory, kBytes - i);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, target, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const char mark = (char)i;
    last = MPI_Aint_add(theirs, kBytes - i - 1);
    MPI_Put(&mark, 1, MPI_BYTE, target, last, 1, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(memory[kBytes - i - 1] == (char)i && memory[0] == 1);
    MPI_Win_detach(win, memory);
    free(memory);
  }
  MPI_Win_detach(win, stays);
  MPI_Win_attach(win, stays, 10);
  MPI_Win_attach(win, stays + 10, 10);
  MPI_Win_detach(win, stays);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win); /* with memory attached */
  free(stays);
}

/* Pieces of one array are attached one by one, in any order. Each access lies across the border of
 * two of them, or of them all. */
static void Adjoining(void) {
  enum { kInts = 60, kPieces = 5, kEach = kInts / kPieces };
  const int order[kPieces] = {3, 0, 4, 1, 2};
  const int target = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int memory[kInts], data[kInts], got[kInts];
  MPI_Aint mine, theirs;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int i = 0; i < kPieces; ++i)
    MPI_Win_attach(win, memory + order[i] * kEach, kEach * sizeof *memory);
  for (int i = 0; i < kInts; ++i) memory[i] = -1, data[i] = 1000 * rank + i, got[i] = -2;
  MPI_Get_address(memory, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, target, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_lock_all(0, win);
  EXPECT(MPI_Put(data, kInts, MPI_INT, target, theirs, kInts, MPI_INT, win) == MPI_SUCCESS);
  EXPECT(MPI_Win_flush(target, win) == MPI_SUCCESS);
  const MPI_Aint border = MPI_Aint_add(theirs, (kEach - 1) * (MPI_Aint)sizeof *memory);
  EXPECT(MPI_Accumulate(data, 2, MPI_INT, target, border, 2, MPI_INT, MPI_SUM, win) == MPI_SUCCESS);
  EXPECT(MPI_Win_flush(target, win) == MPI_SUCCESS);
  EXPECT(MPI_Get(got, kInts, MPI_INT, target, theirs, kInts, MPI_INT, win) == MPI_SUCCESS);
  EXPECT(MPI_Win_unlock_all(win) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i) {
    const int twice = i == kEach - 1 || i == kEach, added = i - (kEach - 1);
    EXPECT(memory[i] == 1000 * left + i + (twice ? 1000 * left + added : 0));
    EXPECT(got[i] == 1000 * rank + i + (twice ? 1000 * rank + added : 0));
  }
  for (int i = 0; i < kPieces; ++i) MPI_Win_detach(win, memory + i * kEach);
  MPI_Win_free(&win);
}

/* Longer than any message in between, contiguous and scattered. */
static void Long(void) {
  enum { kInts = 300000 };
  int *base, *data = malloc(2 * kInts * sizeof *data), *got = malloc(2 * kInts * sizeof *got);
  const int target = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Win win;
  MPI_Datatype every_other;
  MPI_Win_allocate(2 * kInts * (MPI_Aint)sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &base, &win);
  for (int i = 0; i < 2 * kInts; ++i) base[i] = 5, data[i] = rank + i, got[i] = -1;
  MPI_Type_vector(kInts, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  MPI_Put(data, 1, every_other, target, 0, kInts, MPI_INT, win);
  MPI_Accumulate(data, kInts, MPI_INT, target, 0, 1, every_other, MPI_SUM, win);
  MPI_Get(got, 1, every_other, target, 0, 1, every_other, win);
  MPI_Win_flush_local(target, win);
  MPI_Win_unlock(target, win);
  MPI_Barrier(MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < 2 * kInts; ++i) {
    const int put = i < kInts ? left + 2 * i : 5, added = i % 2 == 0 ? left + i / 2 : 0;
    if (base[i] != put + added) ++wrong;
    if (i % 2 == 1 && got[i] != -1) ++wrong;
  }
  EXPECT(wrong == 0);
  MPI_Type_free(&every_other);
  MPI_Win_free(&win);
  free(data);
  free(got);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Empty();
  NobodyIsTheTarget();
  Misaligned();
  Backwards();
  TwoWindows();
  Elements();
  Orders();
  Attaching();
  Adjoining();
  Long();
  return Passed();
}
