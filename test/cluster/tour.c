// SPDX-License-Identifier: BSD-3-Clause
// A walk through point-to-point messages and collectives whose outcome is one line that depends on
// the number of ranks alone; then an end of the wanted kind.
//
// usage: tour [exit=RANK:CODE | abort=RANK:CODE | signal=RANK:NUMBER]
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCount = 3000 };  // words of 8 bytes; more than one short frame holds

static uint64_t Mix(uint64_t sum, uint64_t value) { return (sum ^ value) * 1099511628211u + 12345; }

static uint64_t MixAll(uint64_t sum, const uint64_t* values, int count) {
  for (int i = 0; i < count; ++i) sum = Mix(sum, values[i]);
  return sum;
}

static void Fill(uint64_t* values, int count, int rank) {
  for (int i = 0; i < count; ++i) values[i] = (uint64_t)rank * 1000003u + (uint64_t)i * 7u;
}

// Messages go round the ring, so that every pair of neighbours speaks, across hosts too.
static uint64_t Ring(int rank, int size, uint64_t sum) {
  uint64_t token[kCount];
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  uint64_t mine[kCount];
  Fill(mine, kCount, rank);
  MPI_Sendrecv(mine, kCount, MPI_UINT64_T, right, 3, token, kCount, MPI_UINT64_T, left, 3,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MixAll(sum, token, kCount);
}

static uint64_t Collectives(int rank, int size, uint64_t sum) {
  uint64_t mine[kCount];
  uint64_t result[kCount];
  Fill(mine, kCount, rank);
  MPI_Allreduce(mine, result, kCount, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  sum = MixAll(sum, result, kCount);
  MPI_Scan(mine, result, kCount, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
  sum = MixAll(sum, result, kCount);
  for (int root = 0; root < size; ++root) {
    Fill(result, kCount, rank + 5);
    MPI_Bcast(result, kCount, MPI_UINT64_T, root, MPI_COMM_WORLD);
    sum = MixAll(sum, result, 10);
  }
  uint64_t* all = malloc(2 * (size_t)size * 100 * sizeof *all);
  uint64_t* out = all + (size_t)size * 100;
  MPI_Allgather(mine, 100, MPI_UINT64_T, all, 100, MPI_UINT64_T, MPI_COMM_WORLD);
  sum = MixAll(sum, all, size * 100);
  MPI_Alltoall(all, 100, MPI_UINT64_T, out, 100, MPI_UINT64_T, MPI_COMM_WORLD);
  sum = MixAll(sum, out, size * 100);
  MPI_Reduce_scatter_block(all, out, 100, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  sum = MixAll(sum, out, 100);
  free(all);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(mine, result, 50, MPI_UINT64_T, MPI_SUM, half);
  sum = MixAll(sum, result, 50);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  return sum;
}

// Tells whether the argument is WHAT=OWN_RANK:NUMBER.
static int Wanted(int argc, char** argv, const char* what, int rank, int* number) {
  char format[32];
  int who = -1;
  snprintf(format, sizeof format, "%s=%%d:%%d", what);
  return argc == 2 && sscanf(argv[1], format, &who, number) == 2 && who == rank;
}

int main(int argc, char** argv) {
  int rank, size, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  uint64_t sum = Ring(rank, size, 14695981039346656037u);
  sum = Collectives(rank, size, sum);
  uint64_t total = 0;
  MPI_Reduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("tour of %d ranks: %016llx\n", size, (unsigned long long)total);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (Wanted(argc, argv, "abort", rank, &number)) MPI_Abort(MPI_COMM_WORLD, number);
  if (Wanted(argc, argv, "signal", rank, &number)) raise(number);
  // No other rank gets past here while one of them does not.
  if (argc == 2 && strncmp(argv[1], "exit=", 5) != 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return Wanted(argc, argv, "exit", rank, &number) ? number : 0;
}
