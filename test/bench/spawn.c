/* SPDX-License-Identifier: BSD-3-Clause */
/* Times jobs that one rank spawns, from MPI_Comm_spawn to the end of MPI_Comm_disconnect.
 *
 * usage: spawn SECONDS spawn:RANKS...
 * Prints the median of each in ms. The first job is not counted. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTimesMin = 5, kTimesMax = 100 };

static int Compare(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static double Spawn(char* program, int ranks) {
  MPI_Comm inter;
  char* words[] = {"child", NULL};
  const double start = MPI_Wtime();
  MPI_Comm_spawn(program, words, ranks, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                 MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&inter);
  return 1e3 * (MPI_Wtime() - start);
}

static double Measure(char* program, int ranks, double seconds) {
  double times[kTimesMax];
  int count = 0;
  Spawn(program, ranks);
  for (const double start = MPI_Wtime();
       count < kTimesMin || (count < kTimesMax && MPI_Wtime() - start < seconds);)
    times[count++] = Spawn(program, ranks);
  qsort(times, count, sizeof *times, Compare);
  return times[count / 2];
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
  }
  for (int i = 2; i < argc; ++i) {
    const int ranks = strncmp(argv[i], "spawn:", 6) == 0 ? atoi(argv[i] + 6) : 0;
    printf("%s %.4g\n", argv[i], ranks > 0 ? Measure(argv[0], ranks, atof(argv[1])) : -1);
    fflush(stdout);
  }
  return MPI_Finalize();
}
