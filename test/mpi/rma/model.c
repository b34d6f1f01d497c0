/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every access to every flavour of window, in every kind of epoch and with every shape of
 *         datatype on either side, does to memory what the standard says (MPI-5.0, chapter 12).
 * Method: legal programs drawn at random. All ranks draw the same numbers, so each plays the
 *         accesses of all ranks on a model of all windows, and compares its own window and what it
 *         got. A slot is accessed by one rank a round; the counters at the end of a window by all.
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kSlotInts = 32, kSlots = 3, kCounters = 4, kRounds = 24, kRanksMax = 16 };
enum { kFence, kPost, kShared, kExclusive, kLockAll, kEpochs };
enum { kPut, kGet, kSum, kReplace, kFetchSum, kFetch, kFetchOne, kSwap, kOperations };

static int rank, ranks, ints;          /* ints: of a window */
static int *window, *model[kRanksMax]; /* the own window, and everybody's as it should be */
static MPI_Aint base[kRanksMax];       /* where each window begins, as a displacement */
static MPI_Win win;

static uint64_t state;
static unsigned Draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

/* A shape is `n` ints at ascending offsets within `span` ints, and a datatype for them. */
typedef struct {
  int n, offsets[kSlotInts], span, count;
  MPI_Datatype type;
} Shape;

static Shape DrawShape(int n, int span) {
  Shape shape = {n, {0}, span, 1, MPI_INT};
  const int kind = n == 1 ? 0 : (int)Draw(4);
  const int stride = span / n;
  for (int i = 0; i < n; ++i) shape.offsets[i] = i;
  if (kind == 0) {
    shape.count = n;
    return shape;
  }
  if (kind == 1) { /* at one distance */
    for (int i = 0; i < n; ++i) shape.offsets[i] = i * stride;
    MPI_Type_vector(n, 1, stride, MPI_INT, &shape.type);
  } else if (kind == 2) { /* anywhere, ascending */
    for (int i = 0, at = 0, spare = span - n; i < n; ++i, ++at) {
      const int skip = (int)Draw((unsigned)spare + 1) / 2;
      at += skip;
      spare -= skip;
      shape.offsets[i] = at;
    }
    MPI_Type_create_indexed_block(n, 1, shape.offsets, MPI_INT, &shape.type);
  } else { /* two blocks, the second one first in memory */
    const int first = n / 2, lengths[2] = {first, n - first};
    const int places[2] = {span - first, 0};
    for (int i = 0; i < n; ++i)
      shape.offsets[i] = i < first ? places[0] + i : places[1] + i - first;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &shape.type);
  }
  MPI_Type_commit(&shape.type);
  return shape;
}

static void FreeShape(Shape* shape) {
  if (shape->type != MPI_INT) MPI_Type_free(&shape->type);
}

/* What an access has brought, and what it should have. */
typedef struct {
  int got[kSlotInts], want[kSlotInts], data[kSlotInts], compare;
} Traffic;
static Traffic traffic[kRanksMax][kSlots];
static int operations[kRanksMax][kSlots];
static MPI_Request requests[kRanksMax * kSlots * 2 + 1];
static int requested;

static int PlayCell(int operation, int old, int value) {
  switch (operation) {
    case kPut:
    case kReplace:
      return value;
    case kSum:
    case kFetchSum:
    case kFetchOne:
      return (int)((unsigned)old + (unsigned)value);
    default:
      return old;
  }
}

static void Start(int operation, int passive, int target, MPI_Aint at, Shape* here, Shape* there,
                  Traffic* it) {
  MPI_Request* request = passive ? &requests[requested++] : NULL;
  const int n = here->count, m = there->count;
  switch (operation) {
    case kPut:
      if (passive)
        MPI_Rput(it->data, n, here->type, target, at, m, there->type, win, request);
      else
        MPI_Put(it->data, n, here->type, target, at, m, there->type, win);
      return;
    case kGet:
      if (passive)
        MPI_Rget(it->got, n, here->type, target, at, m, there->type, win, request);
      else
        MPI_Get(it->got, n, here->type, target, at, m, there->type, win);
      return;
    case kSum:
    case kReplace: {
      const MPI_Op op = operation == kSum ? MPI_SUM : MPI_REPLACE;
      if (passive)
        MPI_Raccumulate(it->data, n, here->type, target, at, m, there->type, op, win, request);
      else
        MPI_Accumulate(it->data, n, here->type, target, at, m, there->type, op, win);
      return;
    }
    default: {
      const MPI_Op op = operation == kFetch ? MPI_NO_OP : MPI_SUM;
      if (passive)
        MPI_Rget_accumulate(it->data, n, here->type, it->got, n, here->type, target, at, m,
                            there->type, op, win, request);
      else
        MPI_Get_accumulate(it->data, n, here->type, it->got, n, here->type, target, at, m,
                           there->type, op, win);
    }
  }
}

/* One access of `origin` to its slot at `target`: drawn and played by all, done by the origin. */
static void Access(int origin, int target, int slot, int passive) {
  const int place = (origin * kSlots + slot) * kSlotInts;
  int operation = (int)Draw(kOperations);
  const int single = operation == kFetchOne || operation == kSwap;
  const int n = single ? 1 : 1 + (int)Draw(kSlotInts / 2);
  Shape here = DrawShape(n, kSlotInts), there = DrawShape(n, kSlotInts);
  const int repeats = operation == kSum ? 2 : 1;
  Traffic* it = &traffic[target][slot];
  const int value = (int)Draw(1u << 30), hit = (int)Draw(2);
  int* cells = model[target] + place;
  const int mine = origin == rank;
  const MPI_Aint at = base[target] + place * (MPI_Aint)sizeof(int);
  if (mine) {
    memset(it, -1, sizeof *it);
    operations[target][slot] = operation;
    for (int i = 0; i < n; ++i) {
      it->data[here.offsets[i]] = value + i;
      if (operation == kGet || operation >= kFetchSum)
        it->want[here.offsets[i]] = cells[there.offsets[i]];
    }
    it->compare = hit ? cells[0] : cells[0] + 1;
    if (operation == kFetchOne)
      MPI_Fetch_and_op(it->data, it->got, MPI_INT, target, at, MPI_SUM, win);
    else if (operation == kSwap)
      MPI_Compare_and_swap(it->data, &it->compare, it->got, MPI_INT, target, at, win);
    else
      for (int i = 0; i < repeats; ++i) Start(operation, passive, target, at, &here, &there, it);
  }
  for (int r = 0; r < repeats; ++r)
    for (int i = 0; i < n; ++i) {
      int* cell = &cells[there.offsets[i]];
      *cell = operation == kSwap ? (hit ? value : *cell) : PlayCell(operation, *cell, value + i);
    }
  FreeShape(&here);
  FreeShape(&there);
}

/* Everybody adds to one counter of the target; nobody looks at it in this round. */
static int added[kRanksMax];
static void Count(int origin, int target) {
  const int place = ints - kCounters + (int)Draw(kCounters);
  const int value = (int)Draw(1000);
  if (origin == rank) {
    added[target] = value;
    MPI_Accumulate(&added[target], 1, MPI_INT, target,
                   base[target] + place * (MPI_Aint)sizeof(int), 1, MPI_INT, MPI_SUM, win);
  }
  model[target][place] += value;
}

static void Begin(int epoch, int target, MPI_Group all) {
  if (epoch == kFence && target < 0) MPI_Win_fence(0, win);
  if (epoch == kPost && target < 0) {
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
  }
  if (epoch == kLockAll && target < 0) MPI_Win_lock_all(0, win);
  if (epoch == kShared && target >= 0) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  if (epoch == kExclusive && target >= 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
}

static void End(int epoch, int target) {
  const int waits = target < 0 ? epoch == kLockAll : epoch == kShared || epoch == kExclusive;
  if (waits) {
    if (target >= 0) MPI_Win_flush_local(target, win);
    MPI_Waitall(requested, requests, MPI_STATUSES_IGNORE);
    requested = 0;
  }
  if (epoch == kFence && target < 0) MPI_Win_fence(0, win);
  if (epoch == kPost && target < 0) {
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  if (epoch == kLockAll && target < 0) {
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
  }
  if ((epoch == kShared || epoch == kExclusive) && target >= 0) MPI_Win_unlock(target, win);
}

/* Some peers want MPI_Win_sync within a passive epoch, as the standard once did. */
static void Sync(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Win_sync(win);
  MPI_Win_unlock(rank, win);
}

static void PlayRound(MPI_Comm comm, int round) {
  MPI_Group all;
  const int epoch = (int)Draw(kEpochs);
  MPI_Win_get_group(win, &all);
  Sync();
  MPI_Barrier(comm);
  Begin(epoch, -1, all);
  for (int origin = 0; origin < ranks; ++origin) {
    for (int target = 0; target < ranks; ++target) {
      if (origin == rank) Begin(epoch, target, all);
      for (int slot = 0; slot < kSlots; ++slot) Access(origin, target, slot, epoch >= kShared);
      Count(origin, target);
      if (origin == rank) End(epoch, target);
    }
  }
  End(epoch, -1);
  MPI_Barrier(comm);
  Sync();
  int same = 1;
  for (int i = 0; i < ints; ++i) same = same && window[i] == model[rank][i];
  if (!same)
    fprintf(stderr, "rank %d: round %d, epoch %d: the window is not as it should be\n", rank,
            round, epoch);
  EXPECT(same);
  for (int target = 0; target < ranks; ++target)
    for (int slot = 0; slot < kSlots; ++slot) {
      const Traffic* it = &traffic[target][slot];
      const int came = memcmp(it->got, it->want, sizeof it->got) == 0;
      if (!came)
        fprintf(stderr, "rank %d: round %d, epoch %d: operation %d on %d got something else\n",
                rank, round, epoch, operations[target][slot], target);
      EXPECT(came);
    }
  MPI_Group_free(&all);
}

static void Play(MPI_Comm comm, int flavor, unsigned seed) {
  const MPI_Aint bytes = ints * (MPI_Aint)sizeof(int);
  MPI_Aint address = 0;
  int* memory = NULL;
  if (flavor == MPI_WIN_FLAVOR_ALLOCATE)
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &window, &win);
  else if (flavor == MPI_WIN_FLAVOR_SHARED)
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, comm, &window, &win);
  else
    window = memory = malloc((size_t)bytes);
  if (flavor == MPI_WIN_FLAVOR_CREATE) MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, comm, &win);
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
    MPI_Win_attach(win, memory, bytes);
    MPI_Get_address(memory, &address);
  }
  MPI_Allgather(&address, 1, MPI_AINT, base, 1, MPI_AINT, comm);
  for (int i = 0; i < ints; ++i) window[i] = i;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < ints; ++i) model[r][i] = i;
  state = seed;
  for (int round = 0; round < kRounds; ++round) PlayRound(comm, round);
  MPI_Barrier(comm);
  if (flavor == MPI_WIN_FLAVOR_DYNAMIC) MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  free(memory);
}

int main(int argc, char** argv) {
  MPI_Comm node;
  int node_ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ints = ranks * kSlots * kSlotInts + kCounters;
  for (int r = 0; r < ranks; ++r) model[r] = malloc((size_t)ints * sizeof(int));
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_ranks);
  Play(MPI_COMM_WORLD, MPI_WIN_FLAVOR_ALLOCATE, seed);
  Play(MPI_COMM_WORLD, MPI_WIN_FLAVOR_CREATE, seed + 1);
  Play(MPI_COMM_WORLD, MPI_WIN_FLAVOR_DYNAMIC, seed + 2);
  if (node_ranks == ranks) Play(MPI_COMM_WORLD, MPI_WIN_FLAVOR_SHARED, seed + 3);
  for (int r = 0; r < ranks; ++r) free(model[r]);
  MPI_Comm_free(&node);
  return Passed();
}
