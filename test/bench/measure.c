/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what an MPI takes for common operations. `run` builds this with each MPI's own mpicc.
 *
 * usage: mpiexec -n N measure SECONDS [multiple] ROW...
 *                                                ROW:  latency:BYTES rate:BYTES barrier bcast:BYTES
 *                                                      reduce:BYTES allreduce:BYTES
 *                                                      reduce_scatter:BYTES (of each result)
 *                                                      allgather:BYTES alltoall:BYTES both:BYTES
 *                                                      pairs:BYTES stencil:POINTS any:BYTES
 *                                                      started:BYTES vector:BYTES early:BYTES
 *                                                      shifted:BYTES tell:BYTES collect:BYTES
 *                                                      queue:MESSAGES memory spoken peer idle
 * `multiple` asks for MPI_THREAD_MULTIPLE, although one thread makes all calls.
 * It prints `ROW VALUE BEFORE AFTER` for each row. VALUE is in microseconds, messages per second,
 * kB per rank (PSS), or per cent of a processor. BEFORE and AFTER are the microseconds that a cache
 * line took from one of two ranks to the other before and after the row; they are 0 if there are
 * not two ranks or these share no memory.
 *
 * A row is timed in a few batches and its median batch counts. How many calls make a batch is found
 * by doubling, so that a row takes about SECONDS with every MPI, although some are many thousand
 * times as slow as others when ranks outnumber processors. The calls before these do not count,
 * because they connect, touch memory and may find out which way is the fastest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "line.h"

enum { kPings = 300, kBatches = 5, kWindow = 64, kExchanges = 8, kBytesMax = 64 << 20 };
enum { kFirstCalls = 50 };
static const double kFirstSeconds = 1;

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

/* The same, but the receiver's data begins 16 bytes into a page and the sender's at its start. */
static void Shifted(int calls, int bytes) {
  received += 16;
  Latency(calls, bytes);
  received -= 16;
}

/* The same, received from any source with any tag. */
static void Any(int calls, int bytes) {
  if (rank > 1) return;
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(sent, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }
}

/* The same with MPI_Isend and receives that are posted in time. */
static void Started(int calls, int bytes) {
  if (rank > 1) return;
  MPI_Request requests[2];
  MPI_Irecv(received, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Isend(sent, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[1]);
    if (rank == 0) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (i + 1 < calls)
      MPI_Irecv(received, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
    if (rank == 1) MPI_Isend(sent, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    if (rank == 1) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
}

/* The same with every second double of a buffer. */
static void Vector(int calls, int bytes) {
  if (rank > 1) return;
  MPI_Datatype type;
  MPI_Type_vector(bytes / 8, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < calls; ++i) {
    if (rank == 0) MPI_Send(sent, 1, type, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(received, 1, type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(sent, 1, type, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Type_free(&type);
}

/* Two messages each way, received in the other order: the first one comes before its receive. */
static void Early(int calls, int bytes) {
  if (rank > 1) return;
  for (int i = 0; i < 2 * calls; ++i) {
    if (i % 2 == rank) {
      MPI_Send(sent, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
      MPI_Send(sent, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD);
    } else {
      MPI_Recv(received, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(received, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

/* Rank 0 sends windows of messages to rank 1, which answers each window by an empty message. */
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

/* The same in both directions at once; 4 messages each, so that memory stays bounded. */
static void Both(int windows, int bytes) {
  if (rank > 1) return;
  MPI_Request requests[8];
  for (int i = 0; i < windows; ++i) {
    for (int k = 0; k < 4; ++k) {
      MPI_Irecv(received, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, &requests[k]);
      MPI_Isend(sent, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, &requests[4 + k]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  }
}

/* Ranks 0 and 1 exchange messages, one each way at a time. The rank that is early stays early. */
static void Exchange(int rows, int bytes) {
  if (rank > 1) return;
  MPI_Request requests[2];
  for (int i = 0; i < rows * kExchanges; ++i) {
    MPI_Irecv(received, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, bytes, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

/* Ranks 2k and 2k+1 play, all pairs at once. */
static void Pairs(int calls, int bytes) {
  const int peer = rank ^ 1;
  if (peer >= ranks) return;
  for (int i = 0; i < calls; ++i) {
    if (rank % 2 == 0) MPI_Send(sent, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank % 2 == 1) MPI_Send(sent, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
}

/* A rod of heat: every rank has `points` points and needs one of each neighbour in every step. */
static void Stencil(int steps, int points) {
  double* now = (double*)sent + 1;
  double* next = (double*)received + 1;
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  for (int step = 0; step < steps; ++step) {
    MPI_Request requests[4];
    MPI_Irecv(&now[-1], 1, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&now[points], 1, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&now[0], 1, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&now[points - 1], 1, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < points; ++i)
      next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    double* const old = now;
    now = next;
    next = old;
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

/* Rank 0 is always the root and runs ahead as far as the MPI lets it. */
static void Tell(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) MPI_Bcast(sent, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void Allreduce(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Allreduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* The root moves on in each call. */
static void Reduce(int calls, int bytes) {
  for (int i = 0; i < calls; ++i) {
    MPI_Reduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, i % ranks, MPI_COMM_WORLD);
  }
}

/* Rank 0 is always the root, and the others run ahead. */
static void Collect(int calls, int bytes) {
  for (int i = 0; i < calls; ++i)
    MPI_Reduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void ReduceScatter(int calls, int bytes) {
  int* const counts = malloc(sizeof(int) * (size_t)ranks); /* (LAM/MPI has none of one block) */
  for (int i = 0; i < ranks; ++i) counts[i] = bytes / 8;
  for (int i = 0; i < calls; ++i) {
    MPI_Reduce_scatter(sent, received, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  free(counts);
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
} kRows[] = {{"reduce", Reduce},       {"reduce_scatter", ReduceScatter},
             {"allgather", Allgather}, {"latency", Latency},
             {"rate", Stream},         {"barrier", Barrier},
             {"bcast", Bcast},         {"allreduce", Allreduce},
             {"alltoall", Alltoall},   {"pairs", Pairs},
             {"stencil", Stencil},     {"any", Any},
             {"started", Started},     {"vector", Vector},
             {"early", Early},         {"both", Both},
             {"exchange", Exchange},   {"shifted", Shifted},
             {"tell", Tell},           {"collect", Collect}};

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Returns the seconds that a batch takes until the last rank is done; all ranks get that value. */
static double Time(Batch batch, int calls, int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  batch(calls, bytes);
  const double mine = MPI_Wtime() - start;
  double took = mine; /* (LAM/MPI has no MPI_IN_PLACE) */
  MPI_Allreduce(&mine, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

/* Returns the seconds that a call takes. */
static double Row(Batch batch, int bytes, double seconds) {
  int calls = 1;
  double took = Time(batch, calls, bytes), spent = took;
  for (int i = 1; i < kFirstCalls && spent < kFirstSeconds; ++i)
    spent += took = Time(batch, calls, bytes);
  const double batch_seconds = seconds / (kBatches + 1);
  while (took < batch_seconds / 2 && calls < 1 << 24) {
    calls *= took < batch_seconds / 16 ? 8 : 2;
    took = Time(batch, calls, bytes);
  }
  const int batches = took > seconds ? 1 : kBatches;
  double per_call[kBatches];
  for (int i = 0; i < batches; ++i) per_call[i] = Time(batch, calls, bytes) / calls;
  qsort(per_call, (size_t)batches, sizeof per_call[0], ByValue);
  return per_call[batches / 2];
}

/* Returns the mean of the ranks' proportional set sizes, in kB. */
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

/* The same after every rank has spoken to every other. */
static double SpeakToAll(void) {
  long* words = calloc(2 * (size_t)ranks, sizeof *words);
  MPI_Alltoall(words, 1, MPI_LONG, words + ranks, 1, MPI_LONG, MPI_COMM_WORLD);
  for (int i = 1; i < ranks; ++i) /* the collective may have left pairs out */
    MPI_Sendrecv(words, 1, MPI_LONG, (rank + i) % ranks, 6, words + ranks, 1, MPI_LONG,
                 (rank + ranks - i) % ranks, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(words);
  return Memory();
}

/* Returns the microseconds that it takes to receive one of `messages` waiting messages. Each has a
 * tag of its own, and they are received in another order than they were sent. */
static double Queue(int messages) {
  double took = 0;
  int word = 0;
  if (rank == 0) {
    for (int i = 0; i < messages; ++i) MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, 1, messages, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&word, 1, MPI_INT, 0, messages, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double start = MPI_Wtime();
    for (int i = 0; i < messages; ++i) {
      const int tag = (int)((long)i * 7919 % messages); /* a prime: every tag once */
      MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    took = MPI_Wtime() - start;
  }
  MPI_Bcast(&took, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  return took / messages * 1e6;
}

static double CpuSeconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Returns the per cent of a processor that the busiest rank burns while it waits for one that does
 * nothing. The first millisecond does not count. */
static double Idle(void) {
  const double wait_seconds = 0.3;
  double mine = 0, most = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    const struct timespec rest = {0, (long)(wait_seconds * 1e9)};
    nanosleep(&rest, NULL); /* tidy: sleep: it is the rank that the others wait for */
    for (int peer = 0; peer < rank; ++peer) MPI_Send(NULL, 0, MPI_BYTE, peer, 5, MPI_COMM_WORLD);
  } else {
    const double before = CpuSeconds();
    MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine = CpuSeconds() - before - 1e-3;
    mine = mine > 0 ? 100 * mine / (wait_seconds - 1e-3) : 0;
  }
  MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most > 0.01 ? most : 0.01; /* smaller values cannot be told apart */
}

/* Returns memory that both ranks see, without help from the MPI, or NULL on both if there is none.
 */
static struct Line* Share(void) {
  char name[] = "/dev/shm/measure-XXXXXX";
  int fd = rank == 0 ? mkstemp(name) : -1;
  const int made = fd >= 0 && ftruncate(fd, sizeof(struct Line)) == 0;
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 1) fd = open(name, O_RDWR);
  struct Line* line = mmap(NULL, sizeof *line, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int mine = line != MAP_FAILED && (made || rank == 1), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) unlink(name);
  if (fd >= 0) close(fd);
  return all ? line : NULL;
}

/* Returns the microseconds that a cache line takes between two ranks' processors, which tells how
 * far apart they are now. On a virtual machine that changes within seconds. */
static double Distance(void) {
  static struct Line* line;
  static int asked, played;
  double values[kBatches] = {0};
  if (ranks != 2) return 0;
  if (!asked) line = Share();
  asked = 1;
  for (int i = 0; i < kBatches && line != NULL; ++i)
    values[i] = PlayLine(line, rank, kPings, &played);
  qsort(values, kBatches, sizeof values[0], ByValue);
  return values[kBatches / 2];
}

/* Returns how many bytes a row needs of each buffer. */
static size_t Room(const char* row, int bytes) {
  if (strcmp(row, "alltoall") == 0 || strcmp(row, "allgather") == 0)
    return (size_t)bytes * (size_t)ranks;
  if (strcmp(row, "vector") == 0) return 2 * (size_t)bytes;
  if (strcmp(row, "stencil") == 0) return ((size_t)bytes + 2) * sizeof(double);
  return (size_t)bytes;
}

/* Makes both buffers only as large as the largest of these rows needs, so that 64 ranks fit. */
static void Allocate(int count, char** rows) {
  size_t room = 4 << 20;
  for (int k = 0; k < count; ++k) {
    int bytes = 0;
    char name[32] = "";
    if (sscanf(rows[k], "%31[^:]:%d", name, &bytes) != 2 || bytes < 0) continue;
    const size_t needed = Room(name, bytes);
    if (needed > room && needed <= kBytesMax) room = needed;
  }
  room = (room + 4095) / 4096 * 4096;
  sent = aligned_alloc(4096, 2 * room + 4096); /* Shifted() goes beyond the second half */
  received = sent + room;
  memset(sent, 0, 2 * room + 4096);
}

int main(int argc, char** argv) {
  const int multiple = argc > 2 && strcmp(argv[2], "multiple") == 0;
  int provided = MPI_THREAD_SINGLE;
  if (!multiple) {
    MPI_Init(&argc, &argv);
  } else if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS ||
             provided != MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = argc > 1 ? atof(argv[1]) : 0;
  double at_rest = 0, spoken = 0;

  for (int i = 2 + multiple; i < argc; ++i) {
    double value = -1;
    int bytes = 0;
    char name[32] = "";
    const int timed = strcmp(argv[i], "memory") != 0 && strcmp(argv[i], "spoken") != 0 &&
                      strcmp(argv[i], "peer") != 0; /* the memory of Distance() is not the MPI's */
    const double before = timed ? Distance() : 0;
    if (strcmp(argv[i], "memory") == 0) {
      value = at_rest = Memory();
    } else if (strcmp(argv[i], "spoken") == 0) {
      value = spoken = SpeakToAll();
    } else if (strcmp(argv[i], "peer") == 0) {
      value = ranks > 1 && spoken > at_rest ? (spoken - at_rest) / (ranks - 1) : 0;
    } else if (sscanf(argv[i], "queue:%d", &bytes) == 1 && bytes > 0) {
      value = Queue(bytes);
    } else if (strcmp(argv[i], "idle") == 0) {
      value = Idle();
    } else if (sscanf(argv[i], "%31[^:]:%d", name, &bytes) >= 1 && bytes >= 0 &&
               Room(name, bytes) <= kBytesMax) {
      if (sent == NULL) Allocate(argc - i, argv + i); /* `memory` must not see the buffers */
      for (size_t k = 0; k < sizeof kRows / sizeof kRows[0]; ++k) {
        if (strcmp(name, kRows[k].name) != 0) continue;
        const double per_call = Row(kRows[k].batch, bytes, seconds);
        value = per_call * 1e6;
        const Batch batch = kRows[k].batch;
        if (batch == Latency || batch == Any || batch == Started || batch == Vector ||
            batch == Early || batch == Pairs)
          value /= 2;
        if (kRows[k].batch == Both) value = 8 / per_call;
        if (kRows[k].batch == Exchange) value = per_call * 1e6 / kExchanges;
        if (kRows[k].batch == Stream) value = kWindow / per_call;
      }
    }
    const double after = timed ? Distance() : 0;
    if (rank == 0) {
      printf("%s %.6g %.4g %.4g\n", argv[i], value, before, after);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
