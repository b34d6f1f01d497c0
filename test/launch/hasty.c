/* SPDX-License-Identifier: BSD-3-Clause
 * The program of spawn_ends_test.py. A job spawns two children, and argv[1] says how they or their
 * parents end:
 *
 *   all WHAT, one WHAT  all children, or the second one, do this before MPI_Init: exit with the
 *                       code WHAT, or with "sN" die by signal N; parents say what they hear
 *   met WHAT            the same, of all children, as soon as they have met their parents, who wait
 *   leave               the last parent calls exit(0) while the children compute for ever
 *   last WHAT           the same, where the root has finalized and ended before; it does WHAT
 *   copy                a parent is killed, and a copy of it that it has made lives on; the
 *                       children compute for ever
 *   copies              both sides make copies of themselves, which end in good order, and go on
 *   deaf                the parents finalize; the children ignore SIGTERM and compute for ever
 */
#define _DEFAULT_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/mpi/check.h"
#include "test/mpi/talk.h"

static int Is(const char* word, const char* other) { return strcmp(word, other) == 0; }

static void End(const char* how) {
  if (how[0] == 's') raise(atoi(how + 1));
  exit(atoi(how));
}

static void Compute(void) {
  for (;;) pause();
}

static void Spawn(char** argv, MPI_Comm* inter, int* error) {
  char* words[] = {argv[1], argv[2] != NULL ? argv[2] : "", "child", NULL};
  int codes[2] = {-1, -1};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  *error = MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes);
  for (int i = 0; i < 2; ++i) EXPECT(codes[i] == ClassOf(*error));
}

static void SayError(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length, rank;
  MPI_Error_string(error, text, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%s\n", text);
}

/* Returns once the root has ended, which has finalized before. */
static void OutliveRoot(int rank) {
  int root = (int)getpid();
  MPI_Bcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) exit(Passed());
  struct pollfd end = {(int)syscall(SYS_pidfd_open, root, 0), POLLIN, 0};
  while (end.fd >= 0 && poll(&end, 1, -1) != 1) continue;
}

/* The copy runs what exit() runs. */
static void Copy(void) {
  int status = -1;
  const pid_t copy = fork();
  if (copy == 0) exit(0);
  EXPECT(waitpid(copy, &status, 0) == copy && status == 0);
}

static int Child(int argc, char** argv) {
  const int rank = atoi(getenv("PMIX_RANK"));
  MPI_Comm parent;
  if (Is(argv[1], "all") || (Is(argv[1], "one") && rank == 1)) End(argv[2]);
  if (Is(argv[1], "deaf")) signal(SIGTERM, SIG_IGN);
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Barrier(parent);
  if (Is(argv[1], "met")) End(argv[2]);
  if (!Is(argv[1], "copies")) Compute();
  Talk(parent, 1);
  Copy();
  Talk(parent, 1);
  return Passed();
}

int main(int argc, char** argv) {
  MPI_Comm inter;
  int rank, size, error;
  if (argc > 3) return Child(argc, argv);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Spawn(argv, &inter, &error);
  if (error != MPI_SUCCESS) {
    SayError(error);
    return Passed();
  }
  MPI_Barrier(inter);
  if (Is(argv[1], "met")) MPI_Barrier(inter);
  if (Is(argv[1], "leave") && rank == size - 1) exit(0);
  if (Is(argv[1], "last")) {
    OutliveRoot(rank);
    End(argv[2]);
  }
  if (Is(argv[1], "copy")) {
    if (fork() == 0) Compute();
    raise(SIGKILL);
  }
  if (Is(argv[1], "copies")) {
    Talk(inter, 0);
    Copy();
    Talk(inter, 0);
  }
  return Passed();
}
