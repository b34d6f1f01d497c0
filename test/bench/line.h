/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets a cache line go to and fro between two processors, which shows how far apart they are now.
 */
#pragma once
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

struct Line {
  _Alignas(64) atomic_int ping;
  _Alignas(64) atomic_int pong;
};

static void Await(atomic_int* word, int value) {
  for (int spins = 0; atomic_load_explicit(word, memory_order_acquire) != value; ++spins) {
    if (spins > 20000) sched_yield(); /* the other side may need this processor */
  }
}

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the microseconds that one way takes. Both sides call this at the same time with the same
 * number of `pings`. `played` counts what this side has played with this line so far. */
static double PlayLine(struct Line* line, int side, int pings, int* played) {
  const double start = Now();
  for (int i = 0; i < pings; ++i) {
    const int turn = ++*played;
    if (side == 1) Await(&line->ping, turn);
    atomic_store_explicit(side == 0 ? &line->ping : &line->pong, turn, memory_order_release);
    if (side == 0) Await(&line->pong, turn);
  }
  return (Now() - start) / pings / 2 * 1e6;
}
