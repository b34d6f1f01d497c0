/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the message rate from several threads of rank 0 to as many of rank 1. Each pair of
 * threads has a communicator of its own. `run` builds this with each MPI's own mpicc.
 *
 * usage: mpiexec -n 2 threads SECONDS threads:N...
 * It prints `ROW VALUE` for each row: 8-byte messages per second, all threads together. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreadsMax = 16, kWindow = 64, kBatches = 5 };

static int rank, windows;
static MPI_Comm comms[kThreadsMax];

static void* Stream(void* comm) {
  MPI_Comm mine = *(MPI_Comm*)comm;
  MPI_Request requests[kWindow];
  long words[kWindow] = {0};
  for (int i = 0; i < windows; ++i) {
    for (int k = 0; k < kWindow; ++k) {
      if (rank == 0)
        MPI_Isend(&words[k], 8, MPI_BYTE, 1, 2, mine, &requests[k]);
      else
        MPI_Irecv(&words[k], 8, MPI_BYTE, 0, 2, mine, &requests[k]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, mine, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, 3, mine);
  }
  return NULL;
}

/* Returns the seconds that `count` threads take for `windows` windows each. Both ranks get the same
 * value. */
static double Time(int count) {
  pthread_t threads[kThreadsMax];
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, Stream, &comms[i]);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  double took = MPI_Wtime() - start;
  MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return took;
}

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Rate(int count, double seconds) {
  double rates[kBatches];
  windows = 4;
  while (Time(count) < seconds / (kBatches + 1) / 2 && windows < 1 << 20) windows *= 2;
  for (int i = 0; i < kBatches; ++i) rates[i] = (double)count * windows * kWindow / Time(count);
  qsort(rates, kBatches, sizeof rates[0], ByValue);
  return rates[kBatches / 2];
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < kThreadsMax; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  const double seconds = argc > 1 ? atof(argv[1]) : 0;
  for (int i = 2; i < argc && provided == MPI_THREAD_MULTIPLE; ++i) {
    int count = 0;
    if (sscanf(argv[i], "threads:%d", &count) != 1 || count < 1 || count > kThreadsMax) continue;
    const double rate = Rate(count, seconds);
    if (rank == 0) printf("%s %.6g\n", argv[i], rate);
    fflush(stdout);
  }
  for (int i = 0; i < kThreadsMax; ++i) MPI_Comm_free(&comms[i]);
  MPI_Finalize();
  return 0;
}
