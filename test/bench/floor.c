/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine itself takes, without any MPI: printed before and after a run, so that a table
 * can be judged. Prints `NAME VALUE` lines: microseconds, but fork in milliseconds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { kRounds = 7, kPings = 50000, kForks = 20 };
extern char** environ;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Median(double (*sample)(size_t), size_t argument) {
  double values[kRounds];
  for (int i = 0; i < kRounds; ++i) values[i] = sample(argument);
  qsort(values, kRounds, sizeof values[0], ByValue);
  return values[kRounds / 2];
}

/* The n-th processor this process may use. */
static void Pin(int n) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all) || n-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

static struct {
  _Alignas(64) atomic_int ping;
  _Alignas(64) atomic_int pong;
} line;

static void Await(atomic_int* word, int value) {
  for (int spins = 0; atomic_load_explicit(word, memory_order_acquire) != value; ++spins) {
    if (spins > 20000) sched_yield(); /* one processor, or a busy one */
  }
}

static void* Answer(void* unused) {
  Pin(1);
  for (int i = 1; i <= kPings; ++i) {
    Await(&line.ping, i);
    atomic_store_explicit(&line.pong, i, memory_order_release);
  }
  return unused;
}

/* One way of a cache line between two processors. */
static double LineUs(size_t unused) {
  (void)unused;
  pthread_t thread;
  atomic_store(&line.ping, 0);
  atomic_store(&line.pong, 0);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  if (pthread_create(&thread, NULL, Answer, NULL) != 0) return -1;
  Pin(0);
  const double start = Now();
  for (int i = 1; i <= kPings; ++i) {
    atomic_store_explicit(&line.ping, i, memory_order_release);
    Await(&line.pong, i);
  }
  const double took = Now() - start;
  pthread_join(thread, NULL);
  sched_setaffinity(0, sizeof before, &before);
  return took / kPings / 2 * 1e6;
}

static double CopyUs(size_t bytes) {
  char *from = malloc(bytes), *to = malloc(bytes);
  memset(from, 1, bytes);
  memset(to, 1, bytes);
  const int copies = (int)((64 << 20) / bytes);
  const double start = Now();
  for (int i = 0; i < copies; ++i) {
    memcpy(to, from, bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
  }
  const double took = Now() - start;
  free(from);
  free(to);
  return took / copies * 1e6;
}

static double ForkMs(size_t unused) {
  (void)unused;
  const double start = Now();
  for (int i = 0; i < kForks; ++i) {
    char* const argv[] = {"true", NULL};
    pid_t child = 0;
    int status = 0;
    if (posix_spawnp(&child, "true", NULL, NULL, argv, environ) != 0) return -1;
    waitpid(child, &status, 0);
  }
  return (Now() - start) / kForks * 1e3;
}

int main(void) {
  printf("line %.4g\n", Median(LineUs, 0));
  printf("copy:65536 %.4g\n", Median(CopyUs, 65536));
  printf("copy:1048576 %.4g\n", Median(CopyUs, 1 << 20));
  printf("copy:4194304 %.4g\n", Median(CopyUs, 4 << 20));
  printf("fork %.4g\n", Median(ForkMs, 0));
  return 0;
}
