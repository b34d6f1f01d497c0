/* SPDX-License-Identifier: BSD-3-Clause */
/* What one MPI takes for the common things. Plain MPI, built with each MPI's own mpicc by `run`.
 *
 * usage: mpiexec -n N measure SECONDS ROW...      ROW: latency:BYTES rate:BYTES barrier bcast:BYTES
 *                                                      allreduce:BYTES alltoall:BYTES memory
 *                                                      reduce:BYTES allgather:BYTES
 * Prints `ROW VALUE` per row: microseconds, messages per second, or kB per rank (PSS).
 *
 * A row is timed in a few batches and its median batch counts. How many calls make a batch is
 * found by doubling, so that a row takes about SECONDS whatever the MPI: some need 100 ms for what
 * takes others a microsecond when ranks outnumber processors. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatches = 5, kWindow = 64, kBytesMax = 4 << 20 };

static int rank, ranks;
static char *sent, *received;

typedef void (*Batch)(int calls, int bytes);

/* Only ranks 0 and 1 play. */
static void Latency(int calls, int bytes) {
  if (rank > 1) return;
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(sent, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

/* Windows of messages from rank 0 to rank 1, each answered by an empty message. */
static void Stream(int windows, int bytes) {
  if (rank > 1) return;
  MPI_Request requests[kWindow];
  for (int i = 0; i < windows; ++i) {
    for (int k = 0; k < kWindow; ++k) {
      if (rank == 0) {
        MPI_Isend(sent, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
      } else {
        MPI_Irecv(received, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
  }
}

static void Barrier(int calls, int bytes) {
  (void)bytes;
  for (int i = 0; i < calls; ++i) MPI_Barrier(MPI_COMM_WORLD);
}

/* The root moves on, so that no rank runs ahead of the others by the whole batch. */
static void Bcast(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) MPI_Bcast(sent, bytes, MPI_BYTE, i % ranks, MPI_COMM_WORLD);
}

static void Allreduce(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* The root moves on here too. */
static void Reduce(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Reduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, i % ranks, MPI_COMM_WORLD);
  }
}

static void Allgather(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Allgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
}

static void Alltoall(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
}

static const struct {
  const char* name;
  Batch batch;
} kRows[] = {{"reduce", Reduce},       {"allgather", Allgather}, {"latency", Latency},
             {"rate", Stream},         {"barrier", Barrier},     {"bcast", Bcast},
             {"allreduce", Allreduce}, {"alltoall", Alltoall}};

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Seconds a batch takes on rank 0, which every rank then knows. */
static double Time(Batch batch, int calls, int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  batch(calls, bytes);
  double took = MPI_Wtime() - start;
  MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return took;
}

/* Seconds per call. */
static double Row(Batch batch, int bytes, double seconds) {
  int calls = 1;
  double took = Time(batch, calls, bytes);
  took = Time(batch, calls, bytes); /* the first one connects */
  const double batch_seconds = seconds / (kBatches + 1);
  while (took < batch_seconds / 2 && calls < 1 << 24) {
    calls *= took < batch_seconds / 16 ? 8 : 2;
    took = Time(batch, calls, bytes);
  }
  const int batches = took > seconds ? 1 : kBatches;
  double per_call[kBatches] = {took / calls};
  for (int i = 0; i < batches && batches > 1; ++i) per_call[i] = Time(batch, calls, bytes) / calls;
  qsort(per_call, (size_t)batches, sizeof per_call[0], ByValue);
  return per_call[batches / 2];
}

/* Mean over the ranks of this process's share of resident memory, in kB. */
static double Memory(void) {
  long mine = 0, all = 0;
  char line[256];
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Pss: %ld kB", &mine) == 1) break;
  }
  if (file != NULL) fclose(file);
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return (double)all / ranks;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = argc > 1 ? atof(argv[1]) : 0;

  for (int i = 2; i < argc; ++i) {
    double value = -1;
    int bytes = 0;
    char name[32] = "";
    if (strcmp(argv[i], "memory") == 0) {
      value = Memory();
    } else if (sscanf(argv[i], "%31[^:]:%d", name, &bytes) >= 1 && bytes >= 0 &&
               bytes <= kBytesMax &&
               ((strcmp(name, "alltoall") != 0 && strcmp(name, "allgather") != 0) ||
                bytes <= kBytesMax / ranks)) {
      if (sent == NULL) { /* not before `memory` has been looked at */
        sent = aligned_alloc(4096, 2 * kBytesMax);
        received = sent + kBytesMax;
        memset(sent, 0, 2 * kBytesMax);
      }
      for (size_t k = 0; k < sizeof kRows / sizeof kRows[0]; ++k) {
        if (strcmp(name, kRows[k].name) != 0) continue;
        const double per_call = Row(kRows[k].batch, bytes, seconds);
        value = per_call * 1e6;
        if (kRows[k].batch == Latency) value /= 2;
        if (kRows[k].batch == Stream) value = kWindow / per_call;
      }
    }
    if (rank == 0) {
      printf("%s %.6g\n", argv[i], value);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
