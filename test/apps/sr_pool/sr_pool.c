/* SPDX-License-Identifier: BSD-3-Clause */
/* A small run-time system of a language over lamina/sr.h: tasks wait in a pool at the host, workers
   split or finish them; and a stream of tuples that are packed into a message until it is full.

   sr_pool [fib N [LAST]]: the N-th Fibonacci number, 24 unless said; node LAST calls for the exit.

   sr_pool stream TUPLES: all nodes but the host produce, the host consumes.

   sr_pool latency ROUNDS [BYTES]: half a round trip of 8 bytes, or so many, between nodes 0 and 1,
                   beside MPI's.

   sr_pool spin: all nodes wait for ever, to be killed.

   sr_pool leave NODE: all nodes call for the exit, to which that one never comes. */
#define _POSIX_C_SOURCE 200809L
#include <lamina/sr.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kIdle, kTask, kSplit, kResult, kTuples, kEnd, kPing, kQuit };
enum { kSmall = 12, kNodesMax = 64, kFibMax = 60 }; /* tasks up to kSmall are not split */

static lamina_sr_config config;
static union {
  long numbers[8];
  char bytes[8192];
} room;

static void* Place(void* context, size_t bytes) {
  (void)context;
  return bytes <= sizeof room ? &room : NULL;
}

static lamina_sr_message Get(unsigned types) {
  lamina_sr_message message;
  if (lamina_sr_receive(types, LAMINA_SR_WAIT, Place, NULL, &message) != MPI_SUCCESS)
    lamina_sr_abort("sr_pool: cannot receive");
  if (message.type == LAMINA_SR_EXIT) lamina_sr_exit(0);
  return message;
}

static void Put(int node, int type, long value) {
  long* const buffer = lamina_sr_alloc(sizeof value);
  *buffer = value;
  if (lamina_sr_send(buffer, node, sizeof value, type) != MPI_SUCCESS)
    lamina_sr_abort("sr_pool: cannot send");
}

static long Fib(long n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

static void Work(void) {
  for (;;) {
    lamina_sr_message message = Get(LAMINA_SR_ALL);
    const long n = room.numbers[0];
    if (message.type == kQuit) lamina_sr_exit((int)n);
    if (n <= kSmall) {
      Put(config.host_id, kResult, Fib(n));
    } else {
      Put(config.host_id, kSplit, n);
    }
    Put(config.host_id, kIdle, 0);
  }
}

/* The host hands out tasks to idle workers, depth first, so that the pool stays small. */
static void HandOut(long n, int last) {
  long pool[(kNodesMax + 1) * kFibMax], sum = 0;
  int waiting = 1, under_way = 0, idle[kNodesMax], idlers = 0;
  pool[0] = n;
  while (waiting + under_way > 0) {
    while (waiting > 0 && idlers > 0) {
      Put(idle[--idlers], kTask, pool[--waiting]);
      ++under_way;
    }
    if (waiting > 0 && config.nodes == 1) { /* the host works itself */
      const long task = pool[--waiting];
      if (task <= kSmall) {
        sum += Fib(task);
      } else {
        pool[waiting++] = task - 1;
        pool[waiting++] = task - 2;
      }
      continue;
    }
    lamina_sr_message message = Get(LAMINA_SR_ALL);
    if (message.type == kIdle) idle[idlers++] = message.node;
    if (message.type == kResult) sum += room.numbers[0];
    if (message.type == kSplit) {
      pool[waiting++] = room.numbers[0] - 1;
      pool[waiting++] = room.numbers[0] - 2;
    }
    if (message.type == kSplit || message.type == kResult) --under_way;
  }
  if (sum != Fib(n)) lamina_sr_abort("sr_pool: the sum is wrong");
  printf("fib %ld = %ld\n", n, sum);
  fflush(stdout);
  if (last == config.host_id) lamina_sr_exit(0);
  Put(last, kQuit, 0);
  for (;;) Get(0);
}

/* Tuples of one to nine longs, each with its length in front, packed until one does not fit. */
static void Produce(long tuples) {
  const size_t capacity = config.buffer_bytes / sizeof(long);
  long* buffer = lamina_sr_alloc(config.buffer_bytes);
  size_t used = 0;
  for (long i = 0; i < tuples; ++i) {
    const size_t length = 1 + (size_t)(i % 9);
    if (used + length + 1 > capacity) {
      lamina_sr_send(buffer, config.host_id, used * sizeof(long), kTuples);
      buffer = lamina_sr_alloc(config.buffer_bytes);
      used = 0;
    }
    buffer[used++] = (long)length;
    for (size_t k = 0; k < length; ++k) buffer[used++] = i + (long)k;
  }
  lamina_sr_send(buffer, config.host_id, used * sizeof(long), kTuples);
  lamina_sr_send(NULL, config.host_id, 0, kEnd);
  for (;;) Get(0);
}

static void Consume(void) {
  int open = config.nodes - 1;
  long tuples = 0, sum = 0;
  while (open > 0) {
    const lamina_sr_message message = Get(1u << kTuples | 1u << kEnd);
    const size_t longs = message.bytes / sizeof(long);
    const long* const data = (const long*)room.bytes;
    if (message.type == kEnd) --open;
    for (size_t at = 0; at < longs; at += (size_t)data[at] + 1, ++tuples)
      for (long k = 0; k < data[at]; ++k) sum += data[at + 1 + (size_t)k];
  }
  printf("%ld tuples, sum %ld\n", tuples, sum);
  fflush(stdout);
  lamina_sr_exit(0);
}

static void* PlaceAnywhere(void* context, size_t bytes) {
  (void)bytes;
  return context;
}

static void Latency(long rounds, size_t bytes) {
  double both[2];
  char* const mine = calloc(2, bytes);
  char* const theirs = mine + bytes;
  const int other = 1 - config.my_id;
  if (config.nodes != 2) lamina_sr_abort("sr_pool: latency is between two nodes");
  for (int kind = 0; kind < 4; ++kind) { /* the first two are to warm up */
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = 0; i < rounds; ++i) {
      for (int turn = 0; turn < 2; ++turn) {
        if (kind % 2 == 0) {
          lamina_sr_message message;
          if (turn != config.my_id) {
            lamina_sr_receive(1u << kPing, LAMINA_SR_WAIT, PlaceAnywhere, theirs, &message);
          } else {
            char* const buffer = lamina_sr_alloc(bytes);
            buffer[0] = (char)i; /* a program writes its message there, and not elsewhere first */
            lamina_sr_send(buffer, other, bytes, kPing);
          }
        } else if (turn == config.my_id) {
          mine[0] = (char)i;
          MPI_Send(mine, (int)bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD);
        } else {
          MPI_Recv(theirs, (int)bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      }
    }
    both[kind % 2] = (MPI_Wtime() - begin) / (double)rounds / 2;
  }
  if (config.is_host)
    printf("sr %.0f ns, MPI %.0f ns, ratio %.2f\n", both[0] * 1e9, both[1] * 1e9,
           both[0] / both[1]);
  fflush(stdout);
  free(mine);
  lamina_sr_exit(0);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "fib";
  const long n = argc > 2 ? atol(argv[2]) : 24;
  const int last = argc > 3 ? atoi(argv[3]) : 0;
  if (lamina_sr_init(&config) != MPI_SUCCESS) return 2;
  if (strcmp(what, "fib") == 0 && n > 0 && n <= kFibMax && config.nodes <= kNodesMax) {
    if (config.is_host) HandOut(n, last % config.nodes);
    Put(config.host_id, kIdle, 0);
    Work();
  }
  if (strcmp(what, "stream") == 0) {
    if (config.is_host) Consume();
    Produce(n);
  }
  if (strcmp(what, "latency") == 0) Latency(n, last > 0 ? (size_t)last : 8);
  if (strcmp(what, "spin") == 0) {
    if (config.is_host) printf("waiting\n");
    fflush(stdout);
    Get(0);
  }
  if (strcmp(what, "leave") == 0) {
    while (config.my_id == n) pause();
    lamina_sr_exit(0);
  }
  if (config.is_host)
    fprintf(stderr,
            "usage: sr_pool fib N [LAST] | stream TUPLES | latency ROUNDS [BYTES] | spin | leave "
            "NODE\n");
  lamina_sr_exit(2);
}
