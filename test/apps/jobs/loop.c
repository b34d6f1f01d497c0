/* SPDX-License-Identifier: BSD-3-Clause
 * loop TURNS: spawns a job, talks to it and parts with it, TURNS times in a row. Prints how much
 * more of everything this process and its mpiexec have at the end than they had after the first
 * turns.
 */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kWarm = 10, kPath = 64, kLine = 512, kPatienceMs = 5000 };

struct Possessions {
  int descriptors;
  int mappings;
  long dirty_kib;
};

static struct Possessions Of(int process) {
  struct Possessions found = {0, 0, 0};
  char path[kPath], line[kLine];
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  DIR* folder = opendir(path);
  while (folder != NULL && readdir(folder) != NULL) ++found.descriptors;
  if (folder != NULL) closedir(folder);
  snprintf(path, sizeof path, "/proc/%d/smaps", process);
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    long kib;
    found.mappings += strncmp(line, "VmFlags", 7) == 0;
    /* A page counts as private or shared by whether a process that this one has forked lives. */
    if (sscanf(line, "Private_Dirty: %ld", &kib) == 1 ||
        sscanf(line, "Shared_Dirty: %ld", &kib) == 1)
      found.dirty_kib += kib;
  }
  if (file != NULL) fclose(file);
  return found;
}

/* The mpiexec of the last job may end a little later than its ranks. */
static void Compare(const char* whose, struct Possessions before, int process) {
  struct Possessions now = Of(process);
  for (int turn = 0; turn < kPatienceMs && now.descriptors > before.descriptors; ++turn) {
    usleep(1000); /* tidy: sleep: there is nothing to wait for but the end of a stranger */
    now = Of(process);
  }
  printf("%s: %d descriptors, %d mappings, %ld KiB more\n", whose,
         now.descriptors - before.descriptors, now.mappings - before.mappings,
         now.dirty_kib - before.dirty_kib);
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  int answer = 0;
  char* words[] = {"child", NULL};
  struct Possessions own = {0}, launchers = {0};
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Recv(&answer, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    ++answer;
    MPI_Send(&answer, 1, MPI_INT, 0, 0, parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
  }
  const int turns = atoi(argv[1]);
  for (int turn = 0; turn < turns; ++turn) {
    if (turn == kWarm) {
      own = Of(getpid());
      launchers = Of(getppid());
    }
    MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    MPI_Send(&turn, 1, MPI_INT, 0, 0, inter);
    MPI_Recv(&answer, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
    if (answer != turn + 1) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_disconnect(&inter);
  }
  printf("%d turns\n", turns);
  Compare("parent", own, getpid());
  Compare("mpiexec", launchers, getppid());
  return MPI_Finalize();
}
