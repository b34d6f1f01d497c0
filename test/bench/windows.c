/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what one-sided communication takes. `run` builds this with each MPI's own mpicc.
 *
 * usage: mpiexec -n 2 windows SECONDS ROW...
 *        ROW: KIND-put:BYTES KIND-get:BYTES KIND-accumulate:BYTES KIND-fetch:8 KIND-swap:8
 *             KIND-shared:0 KIND-locked:8 KIND-busy:8 KIND-all:0 KIND-rate:8 KIND-counter:8
 *             KIND-vector:64 KIND-contended:8 KIND-stripes:BYTES KIND-fence:0 KIND-post:8
 *             KIND-make:BYTES
 *        KIND: allocate or create, by which the window is made
 * It prints `ROW VALUE`. VALUE is in microseconds, or accesses per second.
 *
 * Rank 0 accesses the memory of rank 1, which waits in a barrier, so that MPIs go on that need its
 * help. With `busy` it computes and calls nothing of MPI. The median of a few batches counts, and
 * the length of a batch is found by doubling, as measure.c does it. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBatches = 5, kBytesMax = 4 << 20, kRate = 1000 };

static int rank, ranks, bytes;
static char *base, *data, *result;
static MPI_Win win;
static MPI_Group other;
static MPI_Datatype pieces; /* every second one of 2048 pieces of 64 bytes */

/* Every operation is made under lock_all and completed by a flush. */
static void Put(void) {
  MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void Get(void) {
  MPI_Get(result, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
static void Accumulate(void) {
  MPI_Accumulate(data, bytes / 8, MPI_DOUBLE, 1, 0, bytes / 8, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush(1, win);
}
static void Vector(void) {
  MPI_Put(data, 1024 * 64, MPI_BYTE, 1, 0, 1, pieces, win);
  MPI_Win_flush(1, win);
}
static void Fetch(void) {
  MPI_Fetch_and_op(data, result, MPI_LONG, 1, 0, MPI_SUM, win);
  MPI_Win_flush(1, win);
}
static void Swap(void) {
  MPI_Compare_and_swap(data, data, result, MPI_LONG, 1, 0, win);
  MPI_Win_flush(1, win);
}
static void Rate(void) {
  for (int i = 0; i < kRate; ++i) MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
  MPI_Win_flush(1, win);
}
/* These need no epoch. */
static void Shared(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
  MPI_Win_unlock(1, win);
}
static void Locked(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
  MPI_Win_unlock(1, win);
}
static void All(void) {
  MPI_Win_lock_all(0, win);
  MPI_Win_unlock_all(win);
}
/* These are made by both ranks. */
static void Counter(void) {
  MPI_Fetch_and_op(data, result, MPI_LONG, 0, 0, MPI_SUM, win);
  MPI_Win_flush(0, win);
}
static void Contended(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Put(data, bytes, MPI_BYTE, 0, 0, bytes, MPI_BYTE, win);
  MPI_Win_unlock(0, win);
}
/* Each rank has a half of the window of rank 0. */
static void Stripes(void) {
  MPI_Accumulate(data, bytes / 8, MPI_DOUBLE, 0, (MPI_Aint)rank * (kBytesMax / 2), bytes / 8,
                 MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_flush(0, win);
}
static void Fence(void) { MPI_Win_fence(0, win); }
static void Post(void) {
  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
  MPI_Put(data, bytes, MPI_BYTE, 1 - rank, 0, bytes, MPI_BYTE, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}
static void Make(void) {
  MPI_Win made;
  char* memory;
  MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
  MPI_Win_free(&made);
}

enum { kNothing, kLockAll };
enum { kOne, kBusy, kBoth };
static const struct {
  const char* name;
  void (*call)(void);
  int epoch, players, calls;
} kRows[] = {
    {"put", Put, kLockAll, kOne, 1},          {"get", Get, kLockAll, kOne, 1},
    {"fetch", Fetch, kLockAll, kOne, 1},      {"swap", Swap, kLockAll, kOne, 1},
    {"rate", Rate, kLockAll, kOne, kRate},    {"accumulate", Accumulate, kLockAll, kOne, 1},
    {"shared", Shared, kNothing, kOne, 1},    {"locked", Locked, kNothing, kOne, 1},
    {"all", All, kNothing, kOne, 1},          {"busy", Locked, kNothing, kBusy, 1},
    {"counter", Counter, kLockAll, kBoth, 1}, {"fence", Fence, kNothing, kBoth, 1},
    {"vector", Vector, kLockAll, kOne, 1},    {"contended", Contended, kNothing, kBoth, 1},
    {"stripes", Stripes, kLockAll, kBoth, 1}, {"post", Post, kNothing, kBoth, 1},
    {"make", Make, kNothing, kBoth, 1}};

/* The target computes until this word of its window says that the batch is over. */
static void Compute(void) {
  atomic_int* const word = (atomic_int*)(void*)(base + 64);
  while (atomic_load(word) == 0) {
  }
  atomic_store(word, 0);
}
static void EndComputation(void) {
  const int one = 1;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Put(&one, 1, MPI_INT, 1, 64, 1, MPI_INT, win);
  MPI_Win_unlock(1, win);
}

/* Returns the seconds that a batch takes; both ranks get that value. */
static double Time(int row, int calls) {
  const int plays = rank == 0 || kRows[row].players == kBoth;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (plays && kRows[row].epoch == kLockAll) MPI_Win_lock_all(0, win);
  for (int i = 0; plays && i < calls; ++i) kRows[row].call();
  if (plays && kRows[row].epoch == kLockAll) MPI_Win_unlock_all(win);
  double took = MPI_Wtime() - start;
  if (kRows[row].players == kBusy) rank == 0 ? EndComputation() : Compute();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return took;
}

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Row(int row, double seconds) {
  double took, per_call[kBatches];
  int calls = 1;
  while ((took = Time(row, calls)) < seconds / (kBatches + 1) / 2 && calls < 1 << 24)
    calls *= took < seconds / (kBatches + 1) / 16 ? 8 : 2;
  for (int i = 0; i < kBatches; ++i) per_call[i] = Time(row, calls) / calls;
  qsort(per_call, kBatches, sizeof per_call[0], ByValue);
  return per_call[kBatches / 2];
}

static void Run(const char* word, int created, const char* name, double seconds) {
  double value = -1;
  if (created)
    MPI_Win_create(base = calloc(kBytesMax, 1), kBytesMax, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  else
    MPI_Win_allocate(kBytesMax, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  memset(base, 0, kBytesMax);
  for (size_t k = 0; k < sizeof kRows / sizeof kRows[0]; ++k) {
    if (strcmp(name, kRows[k].name) != 0) continue;
    const double per_call = Row((int)k, seconds);
    value = kRows[k].calls > 1 ? kRows[k].calls / per_call : per_call * 1e6;
  }
  MPI_Win_free(&win);
  if (created) free(base);
  if (rank == 0) printf("%s %.6g\n", word, value);
  fflush(stdout);
}

int main(int argc, char** argv) {
  MPI_Group world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peer = 1 - rank;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, ranks == 2 ? 1 : 0, &peer, &other);
  MPI_Type_vector(1024, 64, 128, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  data = calloc(kBytesMax, 1);
  result = calloc(kBytesMax, 1);
  for (int i = 2; i < argc && ranks == 2; ++i) {
    char kind[16] = "", name[16] = "";
    if (sscanf(argv[i], "%15[a-z]-%15[a-z]:%d", kind, name, &bytes) != 3 || bytes < 0 ||
        bytes > kBytesMax)
      continue;
    Run(argv[i], strcmp(kind, "create") == 0, name, atof(argv[1]));
  }
  free(data);
  free(result);
  MPI_Type_free(&pieces);
  MPI_Group_free(&other);
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
