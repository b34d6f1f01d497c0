/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose state is saved: each step passes numbers around a ring and mixes them in, every
   third step is followed by a checkpoint, and rank 0 prints what comes out in the end.

   saved STEPS [die STEP | kill_launcher STEP | short]
     die            the last rank exits with status 9 after that many steps of one run
     kill_launcher  rank 0 kills mpiexec instead, in the middle of a checkpoint's storing
     short          a region that is restored has another length than what was saved */
#define _POSIX_C_SOURCE 200809L
#include <lamina/checkpoint.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kNumbers = 1000 };

static unsigned long numbers[kNumbers];

static void Step(int step, int rank, int ranks) {
  unsigned long got[kNumbers];
  MPI_Sendrecv(numbers, kNumbers, MPI_UNSIGNED_LONG, (rank + 1) % ranks, 0, got, kNumbers,
               MPI_UNSIGNED_LONG, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kNumbers; ++i)
    numbers[i] = numbers[i] * 6364136223846793005ul + got[i] + (unsigned long)(step * 7 + rank);
}

int main(int argc, char** argv) {
  int rank, ranks, restarted = -1, step = 0;
  const int steps = atoi(argv[1]);
  const char* what = argc > 2 ? argv[2] : "";
  const int when = argc > 3 ? atoi(argv[3]) : -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kNumbers; ++i) numbers[i] = (unsigned long)(rank * kNumbers + i);
  if (!lamina_checkpoint) return 2;
  lamina_checkpoint_protect(1, &step, sizeof step);
  lamina_checkpoint_protect(7, numbers, sizeof numbers / (strcmp(what, "short") == 0 ? 2 : 1));
  const int failure = lamina_checkpoint_restore(&restarted);
  if (failure != MPI_SUCCESS) printf("rank %d: nothing restored, class %d\n", rank, failure);
  if (failure != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 8);
  if (rank == 0) printf("%s at step %d\n", restarted ? "restarted" : "begun", step);
  fflush(stdout);
  const int first = step;
  while (step < steps) {
    Step(step, rank, ranks);
    ++step;
    if (step % 3 == 0) {
      const int error = lamina_checkpoint();
      if (error != MPI_SUCCESS && rank == 0) printf("class %d after step %d\n", error, step);
    }
    if (strcmp(what, "die") == 0 && step - first == when && rank == ranks - 1) _exit(9);
    if (strcmp(what, "kill_launcher") == 0 && step - first == when && rank == 0)
      kill(getppid(), SIGKILL);
  }
  unsigned long sum = 0, total = 0;
  for (int i = 0; i < kNumbers; ++i) sum = sum * 31 + numbers[i];
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result %lx\n", total);
  return MPI_Finalize();
}
