/* SPDX-License-Identifier: BSD-3-Clause
 * The last rank kills itself in one kind of epoch, where the others are about to need it or to wait
 * for what it holds. They go on until they cannot. killed_test.py runs this.
 *
 * With `told` they do not end with the job, and errors are returned to them: each prints the class
 * of the first one and is done.
 *
 * usage: killed (create | fence | meet | free | post | nocheck | lock | shared | lock_all | flush |
 *                local | fetch | unlock) TARGET [told]
 */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/check.h"

static int rank, ranks, dies, target; /* target: whose locks they take */
static int* cells;
static MPI_Win win;
static MPI_Comm survivors;
static sigset_t end_of_job;

static void Die(void) {
  if (dies) raise(SIGKILL);
}

/* It comes back only if there was no error. Nobody leaves before all were told, and the launcher
 * knows whom it lost, because that would be a reason of its own. */
static void Do(int code) {
  int signal_number;
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length, gone = -1;
  MPI_Error_string(code, text, &length);
  const char* const names = strstr(text, "rank ");
  if (names != NULL) sscanf(names, "rank %d", &gone);
  if (ClassOf(code) == MPI_ERR_PROC_ABORTED)
    printf("rank %d was told that rank %d is gone\n", rank, gone);
  else
    printf("rank %d was told %s\n", rank, text);
  fflush(stdout);
  MPI_Barrier(survivors);
  sigwait(&end_of_job, &signal_number);
  _exit(0);
}

static void Make(void) {
  Do(MPI_Win_allocate(ranks * (MPI_Aint)sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD,
                      &cells, &win));
}

/* The others ask for a lock in different ways. */
static void Ask(void) {
  if (rank % 3 == 0) Do(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
  if (rank % 3 == 1) Do(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
  if (rank % 3 == 2) Do(MPI_Win_lock_all(0, win));
}

static void Put(int to) { Do(MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, win)); }

static void Locks(int type) {
  if (dies) type != 0 ? MPI_Win_lock(type, target, 0, win) : MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  if (type == MPI_LOCK_EXCLUSIVE) return Ask();
  Do(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
}

static void Post(void) {
  MPI_Group all;
  MPI_Win_get_group(win, &all);
  MPI_Win_post(all, 0, win);
  MPI_Win_start(all, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  /* The others wait for this rank's end of the epoch. */
  const int put = MPI_Put(&rank, 1, MPI_INT, ranks - 1, rank, 1, MPI_INT, win);
  const int completed = MPI_Win_complete(win);
  const int waited = MPI_Win_wait(win);
  Do(put);
  Do(completed);
  Do(waited);
}

/* An origin that knows of the post waits for no word of it. Another target is in the way. */
static void NoCheck(void) {
  MPI_Group all, one, both;
  const int only[] = {ranks - 1}, two[] = {0, ranks - 1};
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, only, &one);
  MPI_Group_incl(all, 2, two, &both);
  if (dies || rank == 0) MPI_Win_post(all, MPI_MODE_NOCHECK, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  for (MPI_Group targets = both;; targets = one) {
    Do(MPI_Win_start(targets, MPI_MODE_NOCHECK, win));
    const int put = MPI_Put(&rank, 1, MPI_INT, ranks - 1, rank, 1, MPI_INT, win);
    const int completed = MPI_Win_complete(win);
    Do(put);
    Do(completed);
  }
}

static void Flush(int fetches) {
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  for (;;) {
    int got;
    if (fetches)
      Do(MPI_Fetch_and_op(&rank, &got, MPI_INT, ranks - 1, 0, MPI_SUM, win));
    else
      Put(ranks - 1);
    Do(MPI_Win_flush(ranks - 1, win));
    Do(MPI_Win_flush_all(win));
  }
}

/* Memory that is mapped outlives its process, but is not to answer for ever. */
static void FlushLocal(void) {
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  for (;;) {
    Put(ranks - 1);
    Do(MPI_Win_flush_local(ranks - 1, win));
    Do(MPI_Win_flush_local_all(win));
  }
}

static void Unlock(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  Die();
  for (;;) {
    Do(MPI_Win_lock(MPI_LOCK_SHARED, ranks - 1, 0, win));
    const int put = MPI_Put(&rank, 1, MPI_INT, ranks - 1, rank, 1, MPI_INT, win);
    const int unlocked = MPI_Win_unlock(ranks - 1, win);
    Do(put);
    Do(unlocked);
  }
}

/* Nobody accesses the memory of the one that is gone, so that only the others' words tell who has
 * not come, also on hosts that have lost nobody. */
static void Meet(int frees) {
  MPI_Win_fence(0, win);
  Die();
  Do(frees ? MPI_Win_free(&win) : MPI_Win_fence(0, win));
}

static void Fence(void) {
  MPI_Win_fence(0, win);
  Die();
  Put(ranks - 1);
  Do(MPI_Win_fence(0, win));
}

int main(int argc, char** argv) {
  sigemptyset(&end_of_job);
  sigaddset(&end_of_job, SIGTERM);
  if (argc > 3) sigprocmask(SIG_BLOCK, &end_of_job, NULL);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dies = rank == ranks - 1;
  const char* const kind = argc > 1 ? argv[1] : "";
  target = argc > 2 ? atoi(argv[2]) : 0;
  if (argc > 3) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_split(MPI_COMM_WORLD, dies, 0, &survivors);
  if (strcmp(kind, "create") == 0) Die();
  Make();
  if (argc > 3) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (strcmp(kind, "fence") == 0) Fence();
  if (strcmp(kind, "meet") == 0) Meet(0);
  if (strcmp(kind, "free") == 0) Meet(1);
  if (strcmp(kind, "local") == 0) FlushLocal();
  if (strcmp(kind, "unlock") == 0) Unlock();
  if (strcmp(kind, "post") == 0) Post();
  if (strcmp(kind, "nocheck") == 0) NoCheck();
  if (strcmp(kind, "lock") == 0) Locks(MPI_LOCK_EXCLUSIVE);
  if (strcmp(kind, "shared") == 0) Locks(MPI_LOCK_SHARED);
  if (strcmp(kind, "lock_all") == 0) Locks(0);
  if (strcmp(kind, "flush") == 0) Flush(0);
  if (strcmp(kind, "fetch") == 0) Flush(1);
  fprintf(stderr, "rank %d went on without a rank that is gone\n", rank);
  return 1;
}
