/* SPDX-License-Identifier: BSD-3-Clause
 * Two solvers that are started each by an mpiexec of its own: heat spreads in a rod, of which each
 * of them has a half. They meet by a name, swap the temperature at their common end in each step,
 * and part; then each goes on alone with an insulated end.
 *
 *   coupled left NAME STEPS | right NAME STEPS [die]
 *
 * The left one says the checksum of its half after the common steps, when the right one has gone,
 * and after it has gone on for as many steps. `die` has the right one killed once they have parted.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kCells = 60 };

static int rank, size;
static double heat[kCells + 2]; /* with the neighbours' cells at both ends */
static int cells;

/* The temperatures beyond this process's cells, from its neighbours or, at the common end, from the
   other solver. An insulated end has that of its own last cell. */
static void Borders(MPI_Comm other, int is_left) {
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int above = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  heat[0] = heat[1];
  heat[cells + 1] = heat[cells];
  MPI_Sendrecv(&heat[1], 1, MPI_DOUBLE, below, 0, &heat[cells + 1], 1, MPI_DOUBLE, above, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&heat[cells], 1, MPI_DOUBLE, above, 1, &heat[0], 1, MPI_DOUBLE, below, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (other == MPI_COMM_NULL || rank != (is_left ? size - 1 : 0)) return;
  int theirs, there;
  MPI_Comm_remote_size(other, &theirs);
  there = is_left ? 0 : theirs - 1;
  double* const mine = is_left ? &heat[cells] : &heat[1];
  double* const beyond = is_left ? &heat[cells + 1] : &heat[0];
  MPI_Sendrecv(mine, 1, MPI_DOUBLE, there, 2, beyond, 1, MPI_DOUBLE, there, 2, other,
               MPI_STATUS_IGNORE);
}

static void Run(int steps, MPI_Comm other, int is_left) {
  for (int step = 0; step < steps; ++step) {
    double next[kCells + 2];
    Borders(other, is_left);
    for (int i = 1; i <= cells; ++i)
      next[i] = heat[i] + 0.25 * (heat[i - 1] - 2 * heat[i] + heat[i + 1]);
    memcpy(&heat[1], &next[1], cells * sizeof *heat);
  }
}

/* What the half has, which depends on every bit of every cell. */
static double Sum(void) {
  double all[kCells] = {0}, sum = 0;
  MPI_Gather(&heat[1], cells, MPI_DOUBLE, all, cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; i < kCells; ++i) sum = sum * 0.75 + all[i];
  return sum;
}

static MPI_Comm MeetAs(const char* service, int is_left) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm other;
  if (rank == 0 && is_left) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
    printf("open\n");
    fflush(stdout);
  } else if (rank == 0) {
    MPI_Lookup_name(service, MPI_INFO_NULL, port);
  }
  if (is_left)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
  return other;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int is_left = strcmp(argv[1], "left") == 0, steps = atoi(argv[3]);
  int process = getpid();
  cells = kCells / size;
  for (int i = 1; i <= cells; ++i) heat[i] = is_left ? rank * cells + i : 0;
  MPI_Comm other = MeetAs(argv[2], is_left);
  Run(steps, other, is_left);
  double sum = Sum();
  /* The left one has to know whose end to wait for. */
  if (rank == 0 && !is_left) MPI_Send(&process, 1, MPI_INT, 0, 3, other);
  if (rank == 0 && is_left) MPI_Recv(&process, 1, MPI_INT, 0, 3, other, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&other);
  if (rank == 0) printf("%.17g\n", sum);
  fflush(stdout);
  if (!is_left) {
    if (argc > 4) raise(SIGKILL);
    return MPI_Finalize();
  }
  while (rank == 0 && kill(process, 0) == 0)
    usleep(1000); /* tidy: sleep: there is nothing to wait for but the end of a stranger */
  MPI_Barrier(MPI_COMM_WORLD);
  Run(steps, MPI_COMM_NULL, is_left);
  sum = Sum();
  if (rank == 0) printf("%.17g\n", sum);
  return MPI_Finalize();
}
