/* SPDX-License-Identifier: BSD-3-Clause
 * A pool of workers, as an executor of Python's is built on MPI: a thread spawns workers from
 * MPI_COMM_SELF, hands out tasks to whoever is idle, and takes the results as they come, while the
 * main thread waits for them.
 *
 *   pool                 three pools one after another, then two at once
 *   pool serve NAME      a process gets its workers' tasks from a job that finds them by a name
 *   pool use NAME        is that job
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWorkers = 3, kTasks = 200, kTask = 1, kResult = 2, kEnd = 3 };

static char* self;

/* A worker squares numbers until it is told to end. */
static void Work(MPI_Comm pool) {
  MPI_Request barrier;
  for (;;) {
    MPI_Message message;
    MPI_Status status;
    long number;
    MPI_Mprobe(0, MPI_ANY_TAG, pool, &message, &status);
    MPI_Mrecv(&number, 1, MPI_LONG, &message, &status);
    if (status.MPI_TAG == kEnd) break;
    number *= number;
    MPI_Ssend(&number, 1, MPI_LONG, 0, kResult, pool);
  }
  MPI_Ibarrier(pool, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&pool);
}

static void HandOut(MPI_Comm pool, int worker, long* next) {
  MPI_Request sent;
  if (*next > kTasks) return;
  MPI_Issend(next, 1, MPI_LONG, worker, kTask, pool, &sent);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  ++*next;
}

/* Returns the sum of all results. */
static long Manage(MPI_Comm pool) {
  int workers;
  long next = 1, sum = 0;
  MPI_Request barrier;
  MPI_Comm_remote_size(pool, &workers);
  for (int worker = 0; worker < workers; ++worker) HandOut(pool, worker, &next);
  for (int results = 0; results < kTasks;) {
    MPI_Message message;
    MPI_Status status;
    int has_come;
    long square;
    MPI_Improbe(MPI_ANY_SOURCE, kResult, pool, &has_come, &message, &status);
    if (!has_come) continue;
    MPI_Mrecv(&square, 1, MPI_LONG, &message, &status);
    sum += square;
    ++results;
    HandOut(pool, status.MPI_SOURCE, &next);
  }
  for (int worker = 0; worker < workers; ++worker) MPI_Ssend(NULL, 0, MPI_LONG, worker, kEnd, pool);
  MPI_Ibarrier(pool, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&pool);
  return sum;
}

/* The manager of one pool. */
static void* Manager(void* sum) {
  MPI_Comm pool;
  MPI_Info info;
  char* words[] = {"worker", NULL};
  MPI_Info_create(&info);
  MPI_Info_set(info, "soft", "1:3");
  MPI_Comm_spawn(self, words, kWorkers, info, 0, MPI_COMM_SELF, &pool, MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  *(long*)sum = Manage(pool);
  return NULL;
}

static void Check(long sum) {
  const long expected = (long)kTasks * (kTasks + 1) * (2 * kTasks + 1) / 6;
  if (sum == expected) return;
  fprintf(stderr, "the sum is %ld, not %ld\n", sum, expected);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void Pools(int count) {
  pthread_t managers[2];
  long sums[2] = {0, 0};
  for (int i = 0; i < count; ++i) pthread_create(&managers[i], NULL, Manager, &sums[i]);
  for (int i = 0; i < count; ++i) {
    pthread_join(managers[i], NULL);
    Check(sums[i]);
  }
}

/* All ranks of this job work for whoever calls. */
static void Serve(const char* service) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm pool;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
    printf("open\n");
    fflush(stdout);
  }
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &pool);
  if (rank == 0) {
    MPI_Unpublish_name(service, MPI_INFO_NULL, port);
    MPI_Close_port(port);
  }
  Work(pool);
}

static void Use(const char* service) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm pool;
  MPI_Lookup_name(service, MPI_INFO_NULL, port);
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &pool);
  Check(Manage(pool));
}

int main(int argc, char** argv) {
  int level;
  MPI_Comm parent;
  self = argv[0];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    Work(parent);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, 3);
    return MPI_Finalize();
  }
  if (argc > 2 && strcmp(argv[1], "serve") == 0) {
    Serve(argv[2]);
  } else if (argc > 2) {
    Use(argv[2]);
  } else {
    for (int turn = 0; turn < 3; ++turn) Pools(1);
    Pools(2);
  }
  MPI_Finalize();
  if (argc < 3 || strcmp(argv[1], "serve") != 0) printf("done\n");
  return 0;
}
