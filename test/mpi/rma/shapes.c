/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   one-sided communication in the shapes in which programs use it: a halo in shared memory,
 *         a distributed hash table, a counter that hands out work, a global array of tiles, a list
 *         of records in attached memory, and a star forest of reductions and broadcasts.
 * Method: each shape computes something whose outcome is known, or is known to be the same however
 *         many ranks there are.
 */
#include <stdint.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank, ranks;

/* Heat in one dimension: each rank has a part in memory that its node shares, and reads the ends of
 * its neighbours there. All ranks then have what one rank computes alone. */
static void Halo(void) {
  enum { kCells = 30, kSteps = 40 };
  MPI_Comm node;
  int me, all, unit;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &me);
  MPI_Comm_size(node, &all);
  double *mine, *left = NULL, *right = NULL;
  MPI_Aint size;
  MPI_Win win;
  MPI_Win_allocate_shared(2 * kCells * sizeof(double), sizeof(double), MPI_INFO_NULL, node, &mine,
                          &win);
  if (me > 0) MPI_Win_shared_query(win, me - 1, &size, &unit, &left);
  if (me + 1 < all) MPI_Win_shared_query(win, me + 1, &size, &unit, &right);
  double* whole = calloc((size_t)(2 * kCells * all), sizeof *whole);
  for (int i = 0; i < kCells * all; ++i) whole[i] = i * i % 17;
  for (int i = 0; i < kCells; ++i) mine[i] = whole[me * kCells + i];
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  for (int step = 0; step < kSteps; ++step) {
    const int now = step % 2 * kCells, next = kCells - now;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    for (int i = 0; i < kCells; ++i) {
      const double before = i > 0 ? mine[now + i - 1] : left != NULL ? left[now + kCells - 1] : 0;
      const double after = i + 1 < kCells ? mine[now + i + 1] : right != NULL ? right[now] : 0;
      mine[next + i] = (before + 2 * mine[now + i] + after) / 4;
    }
    double *from = whole + step % 2 * kCells * all, *to = whole + (1 - step % 2) * kCells * all;
    for (int i = 0; i < kCells * all; ++i)
      to[i] = ((i > 0 ? from[i - 1] : 0) + 2 * from[i] +
               (i + 1 < kCells * all ? from[i + 1] : 0)) / 4;
  }
  MPI_Win_unlock_all(win);
  for (int i = 0; i < kCells; ++i) EXPECT(mine[i] == whole[me * kCells + i]);
  free(whole);
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* Keys are inserted with compare-and-swap by all ranks at once, some of them twice; each is there
 * once in the end. */
static void Table(void) {
  enum { kSlots = 64, kKeys = 24 };
  int64_t* slots;
  MPI_Win win;
  MPI_Win_allocate(kSlots * sizeof *slots, sizeof *slots, MPI_INFO_NULL, MPI_COMM_WORLD, &slots,
                   &win);
  for (int i = 0; i < kSlots; ++i) slots[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  const int64_t nothing = 0;
  for (int i = 0; i < kKeys; ++i) {
    const int64_t key = 1 + (int64_t)(i + rank / 2 * kKeys) * 7919; /* two ranks have the same */
    int64_t old = 0;
    for (int64_t at = key % (kSlots * ranks);; at = (at + 1) % (kSlots * ranks)) {
      const int owner = (int)(at / kSlots);
      MPI_Compare_and_swap(&key, &nothing, &old, MPI_INT64_T, owner, at % kSlots, win);
      MPI_Win_flush(owner, win);
      if (old == 0 || old == key) break;
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  int64_t sums[2] = {0, 0};
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  for (int i = 0; i < kSlots; ++i)
    if (slots[i] != 0) ++sums[0], sums[1] += (slots[i] - 1) / 7919;
  MPI_Win_unlock(rank, win);
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t keys = (int64_t)(ranks + 1) / 2 * kKeys;
  EXPECT(sums[0] == keys && sums[1] == keys * (keys - 1) / 2);
  MPI_Win_free(&win);
}

/* Whoever is idle takes the next piece of work from a counter, as in NWChem. */
static void Tasks(void) {
  enum { kTasks = 200 };
  int64_t *counter, task = 0, one = 1, sum = 0;
  MPI_Win win;
  MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &counter, &win);
  if (rank == 0) *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (;;) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(&one, &task, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    if (task >= kTasks) break;
    sum += task * task;
  }
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == (int64_t)(kTasks - 1) * kTasks * (2 * kTasks - 1) / 6);
  MPI_Win_free(&win);
}

/* A matrix lies in bands of rows. Every rank adds a tile across all bands, with a subarray on both
 * sides, and one of them reads it back, as Global Arrays do. */
static void Tiles(void) {
  enum { kRows = 6, kColumns = 20, kTile = 8 };
  double *band, tile[kRows][kTile], got[kRows][kTile];
  MPI_Win win;
  MPI_Win_allocate(kRows * kColumns * sizeof *band, sizeof *band, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &band, &win);
  for (int i = 0; i < kRows * kColumns; ++i) band[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kTile; ++j) tile[i][j] = i + j + 1;
  for (int start = 0; start <= kColumns - kTile; start += 4)
    for (int target = 0; target < ranks; ++target) {
      const int sizes[] = {kRows, kColumns}, part[] = {kRows, kTile}, starts[] = {0, start};
      MPI_Datatype there;
      MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_DOUBLE, &there);
      MPI_Type_commit(&there);
      MPI_Accumulate(tile, kRows * kTile, MPI_DOUBLE, target, 0, 1, there, MPI_SUM, win);
      MPI_Type_free(&there);
    }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks;
  MPI_Datatype columns;
  MPI_Type_vector(kRows, kTile, kColumns, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  MPI_Get(got, kRows * kTile, MPI_DOUBLE, next, 4, 1, columns, win);
  MPI_Type_free(&columns);
  MPI_Win_flush(next, win);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kTile; ++j) {
      const int column = 4 + j;
      double wanted = 0;
      for (int start = 0; start <= kColumns - kTile; start += 4)
        if (column >= start && column < start + kTile) wanted += i + (column - start) + 1;
      EXPECT(got[i][j] == ranks * wanted);
    }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* A list in attached memory of all ranks: each rank puts its records in front, with
 * compare-and-swap on the head at rank 0. Rank 0 then walks the list over all ranks. */
typedef struct {
  int64_t next; /* rank of the next record times 2^48, plus its address; 0: there is none */
  int64_t value;
} Record;
static int64_t Name(int owner, MPI_Aint address) { return ((int64_t)owner << 48) | address; }

static void List(void) {
  enum { kRecords = 10 };
  Record* records[kRecords];
  int64_t head = 0, old, seen;
  MPI_Aint at;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, &head, sizeof head);
  MPI_Get_address(&head, &at);
  MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kRecords; ++i) {
    MPI_Aint place;
    records[i] = malloc(sizeof *records[i]);
    MPI_Win_attach(win, records[i], sizeof *records[i]);
    MPI_Get_address(records[i], &place);
    records[i]->value = rank * kRecords + i;
    const int64_t name = Name(rank, place);
    for (old = 0;; old = seen) {
      /* The own record is written like everybody's, so that it is seen with the head. */
      MPI_Put(&old, 1, MPI_INT64_T, rank, place, 1, MPI_INT64_T, win);
      MPI_Win_flush(rank, win);
      MPI_Compare_and_swap(&name, &old, &seen, MPI_INT64_T, 0, at, win);
      MPI_Win_flush(0, win);
      if (seen == old) break;
    }
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  if (rank == 0) {
    int64_t sum = 0, count = 0;
    const int64_t no_op = 0;
    MPI_Fetch_and_op(&no_op, &old, MPI_INT64_T, 0, at, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    while (old != 0 && count <= ranks * kRecords) {
      Record record;
      const int owner = (int)(old >> 48);
      MPI_Get(&record, 2, MPI_INT64_T, owner, old & (((int64_t)1 << 48) - 1), 2, MPI_INT64_T, win);
      MPI_Win_flush(owner, win);
      sum += record.value;
      ++count;
      old = record.next;
    }
    const int64_t all = (int64_t)ranks * kRecords;
    EXPECT(count == all && sum == all * (all - 1) / 2);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kRecords; ++i) {
    MPI_Win_detach(win, records[i]);
    free(records[i]);
  }
  MPI_Win_detach(win, &head);
  MPI_Win_free(&win);
}

/* Leaves of all ranks belong to roots elsewhere: values go down by get and come up by accumulate,
 * within fences, on a window that lives as long as one exchange, as in PETSc. */
static void Forest(void) {
  enum { kRoots = 12, kLeaves = 30 };
  double roots[kRoots], leaves[kLeaves];
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Win win;
    for (int i = 0; i < kRoots; ++i) roots[i] = rank * 100 + i;
    MPI_Win_create(roots, sizeof roots, sizeof *roots, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < kLeaves; ++i)
      MPI_Get(&leaves[i], 1, MPI_DOUBLE, (rank + i) % ranks, i % kRoots, 1, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
    for (int i = 0; i < kLeaves; ++i)
      EXPECT(leaves[i] == (rank + i) % ranks * 100 + i % kRoots);
    MPI_Win_free(&win);
    for (int i = 0; i < kRoots; ++i) roots[i] = 0;
    for (int i = 0; i < kLeaves; ++i) leaves[i] = 1;
    MPI_Win_create(roots, sizeof roots, sizeof *roots, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < kLeaves; ++i)
      MPI_Accumulate(&leaves[i], 1, MPI_DOUBLE, (rank + i) % ranks, i % kRoots, 1, MPI_DOUBLE,
                     MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    double sum = 0, all = 0;
    for (int i = 0; i < kRoots; ++i) sum += roots[i];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(all == ranks * (double)kLeaves);
    MPI_Win_free(&win);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Halo();
  Table();
  Tasks();
  Tiles();
  List();
  Forest();
  return Passed();
}
