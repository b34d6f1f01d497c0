/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures MPI_Pack and MPI_Unpack for layouts that programs have. `run` builds this with each
 * MPI's own mpicc.
 *
 * usage: mpiexec -n 1 pack SECONDS ROW...         ROW: memcpy:BYTES pack-LAYOUT:BYTES
 *                                                      unpack-LAYOUT:BYTES, see kLayouts
 * It prints `ROW VALUE` for each row: microseconds per call, or -1 if the copy was wrong. BYTES is
 * about the data copied, without the holes. A row is timed in a few batches; the best one counts.
 */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBatches = 7, kBytesMax = 16 << 20 };

/* The layout under test: `count` elements of `type` in `memory`. */
static MPI_Datatype type;
static int count, packed_bytes;
static char *memory, *packed;

/* Returns numbers that look irregular and are the same for every MPI. */
static unsigned Next(void) {
  static unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

/* Every other double. */
static void Vector(int bytes) {
  MPI_Type_vector(bytes / 8, 1, 2, MPI_DOUBLE, &type);
  count = 1;
}

/* A few columns of a matrix. */
static void Wide(int bytes) {
  MPI_Type_vector(bytes / 48, 6, 16, MPI_DOUBLE, &type);
  count = 1;
}

/* Blocks of one to four doubles at irregular places. */
static void Indexed(int bytes) {
  const int blocks = bytes / 20;
  int* lengths = malloc(sizeof(int) * (size_t)blocks);
  int* places = malloc(sizeof(int) * (size_t)blocks);
  int place = 0;
  for (int i = 0; i < blocks; ++i) {
    lengths[i] = 1 + (int)(Next() % 4);
    places[i] = place;
    place += lengths[i] + 1 + (int)(Next() % 3);
  }
  MPI_Type_indexed(blocks, lengths, places, MPI_DOUBLE, &type);
  count = 1;
  free(lengths);
  free(places);
}

/* Pairs of doubles at irregular places. */
static void IndexedBlock(int bytes) {
  const int blocks = bytes / 16;
  int* places = malloc(sizeof(int) * (size_t)blocks);
  int place = 0;
  for (int i = 0; i < blocks; ++i) {
    places[i] = place;
    place += 3 + (int)(Next() % 3);
  }
  MPI_Type_create_indexed_block(blocks, 2, places, MPI_DOUBLE, &type);
  count = 1;
  free(places);
}

/* An array of structs with holes. */
static void Struct(int bytes) {
  struct cell {
    char kind;
    double value;
    int number;
  };
  const int lengths[3] = {1, 1, 1};
  const MPI_Aint places[3] = {offsetof(struct cell, kind), offsetof(struct cell, value),
                              offsetof(struct cell, number)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, places, types, &type);
  count = bytes / 13;
}

/* The inner half of a box in each of two dimensions, all planes of the third. */
static void Subarray(int bytes) {
  const int planes = bytes / (8 * 8 * 8);
  const int sizes[3] = {planes, 16, 16}, subsizes[3] = {planes, 8, 8}, starts[3] = {0, 4, 4};
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  count = 1;
}

static const struct {
  const char* name;
  void (*make)(int bytes);
} kLayouts[] = {{"vector", Vector},   {"wide", Wide},
                {"indexed", Indexed}, {"indexed_block", IndexedBlock},
                {"struct", Struct},   {"subarray", Subarray}};

static void Pack(void) {
  int position = 0;
  MPI_Pack(memory, count, type, packed, packed_bytes, &position, MPI_COMM_SELF);
}
static void Unpack(void) {
  int position = 0;
  MPI_Unpack(packed, packed_bytes, &position, memory, count, type, MPI_COMM_SELF);
}
static void Memcpy(void) { memcpy(packed, memory, (size_t)packed_bytes); }

/* Returns processor time, because nothing waits here and other programs shall not count. */
static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double Time(void (*copy)(void), int calls) {
  const double start = Now();
  for (int i = 0; i < calls; ++i) copy();
  return Now() - start;
}

/* Returns the seconds that a call takes. */
static double Row(void (*copy)(void), double seconds) {
  const double batch_seconds = seconds / (kBatches + 1);
  double best = 1e9;
  int calls = 1;
  Time(copy, 1); /* the first one touches the memory */
  while (Time(copy, calls) < batch_seconds / 2 && calls < 1 << 24) calls *= 2;
  for (int i = 0; i < kBatches; ++i) {
    const double took = Time(copy, calls);
    if (took < best) best = took;
  }
  return best / calls;
}

/* Checks that packing what was unpacked gives the same bytes. */
static int IsRight(void) {
  char* first = malloc((size_t)packed_bytes);
  int right;
  for (int i = 0; i < packed_bytes; ++i) packed[i] = (char)Next();
  memcpy(first, packed, (size_t)packed_bytes);
  Unpack();
  memset(packed, 0, (size_t)packed_bytes);
  Pack();
  right = memcmp(first, packed, (size_t)packed_bytes) == 0;
  free(first);
  return right;
}

static double Measure(const char* row, double seconds) {
  char way[8] = "", name[32] = "";
  int bytes = 0;
  double value = -1;
  if (sscanf(row, "memcpy:%d", &bytes) == 1 && bytes > 0 && bytes <= kBytesMax) {
    packed_bytes = bytes;
    return Row(Memcpy, seconds);
  }
  if (sscanf(row, "%7[a-z]-%31[a-z_]:%d", way, name, &bytes) != 3) return -1;
  if (bytes < 1024 || bytes > kBytesMax) return -1;
  for (size_t i = 0; i < sizeof kLayouts / sizeof kLayouts[0]; ++i) {
    int size;
    if (strcmp(name, kLayouts[i].name) != 0) continue;
    kLayouts[i].make(bytes);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    packed_bytes = count * size;
    if (IsRight()) value = Row(strcmp(way, "pack") == 0 ? Pack : Unpack, seconds);
    MPI_Type_free(&type);
  }
  return value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 0;
  memory = aligned_alloc(4096, 4 * (size_t)kBytesMax);
  packed = aligned_alloc(4096, 2 * (size_t)kBytesMax);
  memset(memory, 1, 4 * (size_t)kBytesMax);
  memset(packed, 1, 2 * (size_t)kBytesMax);
  for (int i = 2; i < argc; ++i) {
    const double value = Measure(argv[i], seconds);
    printf("%s %.6g\n", argv[i], value < 0 ? value : value * 1e6);
    fflush(stdout);
  }
  free(memory);
  free(packed);
  MPI_Finalize();
  return 0;
}
