/* SPDX-License-Identifier: BSD-3-Clause
 * The program of fates_test.sh. One job spawns another, and argv[1] says what happens then:
 *
 *   child      a child dies by a signal while both are connected; the parents wait for it
 *   parent     a parent dies by a signal while both are connected; the children wait for it
 *   abort      a child calls MPI_Abort while both are connected
 *   parted     a child dies by a signal after both have disconnected; the parents do not care
 *   parting    the root dies as it tells the children's launcher that both have parted
 *   outlive    the parents disconnect and end first; the children say so once they are gone
 *   late       a child dies by a signal once its parents have finalized and ended
 *   hang       the parents finalize and end, and the children compute for ever
 *   code       a child returns 3 after MPI_Finalize, and its parents 0
 *   parted_code  the same after both have disconnected
 *   lone       a parent that nobody looks after is killed, and somebody else holds its descriptors
 *   loop       one parent spawns and disconnects again and again; descriptors do not become more
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char self[4096];
static int dies_parting;

/* The library calls this one, because the program comes first. */
__attribute__((visibility("default"))) ssize_t send(int socket, const void* bytes, size_t count,
                                                    int flags) {
  const ssize_t sent = sendto(socket, bytes, count, flags, NULL, 0);
  if (dies_parting && count >= 5 && memcmp(bytes, "part\n", 5) == 0) raise(SIGKILL);
  return sent;
}

/* Waits until that process is gone. */
static void Outlive(int process) {
  while (kill(process, 0) == 0)
    usleep(1000); /* tidy: sleep: there is nothing to wait for but the end of a stranger */
}

static int Descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

/* The heir has the descriptors of the parent and outlives it, until the child is gone too. */
static int Lone(int is_parent, MPI_Comm inter) {
  int child = getpid();
  if (!is_parent) {
    MPI_Send(&child, 1, MPI_INT, 0, 0, inter);
    for (;;) pause();
  }
  MPI_Recv(&child, 1, MPI_INT, 1, 0, inter, MPI_STATUS_IGNORE);
  if (fork() == 0) {
    Outlive(child);
    printf("the child is gone\n");
    fflush(stdout);
    _exit(0);
  }
  return raise(SIGKILL);
}

static int Loop(void) {
  enum { kTurns = 70, kWarm = 5 };
  int before = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    char* words[] = {"parted", NULL};
    int process = 0;
    MPI_Comm inter;
    MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    MPI_Bcast(&process, 1, MPI_INT, MPI_ROOT, inter);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    if (turn == kWarm) before = Descriptors();
  }
  printf("%d descriptors more\n", Descriptors() - before);
  return MPI_Finalize();
}

int main(int argc, char** argv) {
  static MPI_Comm parent, inter; /* what is never freed is no leak then */
  int rank, process = getpid(), value;
  MPI_Init(&argc, &argv);
  const char* what = argv[1];
  const int parts = strncmp(what, "part", 4) == 0 || strcmp(what, "outlive") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  const int is_parent = parent == MPI_COMM_NULL;
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  if (strcmp(what, "loop") == 0) return Loop();
  if (is_parent) {
    char* words[] = {argv[1], NULL};
    MPI_Comm_spawn(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  } else {
    inter = parent;
  }
  MPI_Bcast(&process, 1, MPI_INT, is_parent ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
  MPI_Barrier(inter);
  dies_parting = strcmp(what, "parting") == 0;
  if (parts) MPI_Comm_disconnect(&inter);
  if (strcmp(what, "parting") == 0) return MPI_Finalize();
  if (strstr(what, "code") != NULL) {
    MPI_Finalize();
    return is_parent || rank == 0 ? 0 : 3;
  }
  if (strcmp(what, "hang") == 0 && !is_parent)
    for (;;) pause();
  if (strcmp(what, "hang") == 0 || (is_parent && strcmp(what, "late") == 0)) return MPI_Finalize();
  if (strcmp(what, "late") == 0) {
    Outlive(process);
    if (rank == 1) raise(SIGKILL);
    return MPI_Finalize();
  }
  if (strcmp(what, "lone") == 0) return Lone(is_parent, inter);
  if (strcmp(what, "outlive") == 0 && !is_parent) {
    Outlive(process);
    printf("child %d goes on\n", rank);
  } else if (rank == 1 && is_parent == (strcmp(what, "parent") == 0)) {
    if (strcmp(what, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(what, "outlive") != 0) raise(SIGKILL);
  }
  if (!parts) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}
