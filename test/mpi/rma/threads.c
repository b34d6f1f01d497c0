/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   several threads access one window at the same time, each with requests, flushes and locks
 *         of its own (MPI-5.0, sections 11.6.2 and 12.5): what a thread has flushed is there, and
 *         no update is lost.
 * Method: under lock_all each thread writes to a row of its own at every target and reads it back
 *         after a flush, while all add to the same counter and take turns at swapping another one.
 *         Then each thread has a window of its own and locks its targets.
 */
#include <pthread.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kThreads = 3, kTimes = 60, kRow = 16, kCounters = 2 };

static int rank, ranks, bad[kThreads], own_memory;
static long* cells;
static MPI_Win win, windows[kThreads];

/* The displacement of the row of a thread of a rank. */
static MPI_Aint Row(int of, int thread) {
  return kCounters + ((MPI_Aint)of * kThreads + thread) * kRow;
}
static MPI_Aint Longs(void) { return Row(ranks, 0); }

static void Write(int me, int target, int round) {
  long out[kRow], in[kRow] = {0};
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < kRow; ++i) out[i] = round * 100 + me * 10 + i;
  if (round % 3 == 0) {
    MPI_Put(out, kRow, MPI_LONG, target, Row(rank, me), kRow, MPI_LONG, win);
  } else if (round % 3 == 1) {
    MPI_Rput(out, kRow, MPI_LONG, target, Row(rank, me), kRow, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Accumulate(out, kRow, MPI_LONG, target, Row(rank, me), kRow, MPI_LONG, MPI_REPLACE, win);
  }
  if (round % 2 == 0)
    MPI_Win_flush(target, win);
  else
    MPI_Win_flush_all(win);
  if (round % 2 == 0) {
    MPI_Get(in, kRow, MPI_LONG, target, Row(rank, me), kRow, MPI_LONG, win);
    MPI_Win_flush_local(target, win);
  } else {
    MPI_Rget(in, kRow, MPI_LONG, target, Row(rank, me), kRow, MPI_LONG, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < kRow; ++i) bad[me] += in[i] != out[i];
}

static void Swap(int me, int target) {
  long old = 0, next, got;
  for (;; old = got) {
    next = old + 1;
    MPI_Compare_and_swap(&next, &old, &got, MPI_LONG, target, 1, win);
    MPI_Win_flush(target, win);
    if (got == old) return;
    bad[me] += got < old;
  }
}

static void* Share(void* argument) {
  const int me = (int)(size_t)argument;
  const long one = 1;
  long last = -1, got;
  for (int round = 0; round < kTimes; ++round) {
    const int target = (rank + me + round) % ranks;
    Write(me, target, round);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    bad[me] += got <= last;
    last = got;
    if (round % 4 == 0) Swap(me, (rank + round) % ranks);
  }
  return NULL;
}

static void* Lock(void* argument) {
  const int me = (int)(size_t)argument;
  for (int round = 0; round < kTimes; ++round) {
    const int target = (rank + round) % ranks;
    long value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, windows[me]);
    MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, windows[me]);
    MPI_Win_flush(target, windows[me]);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, windows[me]);
    MPI_Win_unlock(target, windows[me]);
  }
  return NULL;
}

static void RunThreads(void* (*run)(void*)) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, run, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) EXPECT(bad[i] == 0);
}

static long* Make(MPI_Aint longs, MPI_Win* made) {
  const MPI_Aint bytes = longs * (MPI_Aint)sizeof(long);
  long* base = NULL;
  if (own_memory) {
    base = calloc((size_t)longs, sizeof *base);
    MPI_Win_create(base, bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, made);
  } else {
    MPI_Win_allocate(bytes, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, made);
  }
  for (MPI_Aint i = 0; i < longs; ++i) base[i] = 0;
  return base;
}

static void Play(void) {
  long *counts[kThreads], swaps = 0, all = 0;
  cells = Make(Longs(), &win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  RunThreads(Share);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(rank != 0 || cells[0] == (long)ranks * kThreads * kTimes);
  MPI_Allreduce(&cells[1], &swaps, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(swaps == (long)ranks * kThreads * ((kTimes + 3) / 4));
  MPI_Win_free(&win);
  for (int i = 0; i < kThreads; ++i) counts[i] = Make(1, &windows[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  RunThreads(Lock);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kThreads; ++i) {
    long mine = *counts[i];
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(all == (long)ranks * kTimes);
    MPI_Win_free(&windows[i]);
    if (own_memory) free(counts[i]);
  }
  if (own_memory) free(cells);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (own_memory = 0; own_memory < 2; ++own_memory) Play();
  return Passed();
}
