/* SPDX-License-Identifier: BSD-3-Clause
 * The program of spawn_kills_test.py, any of whose processes is killed at any moment.
 *
 *   family                        two ranks spawn two children, one of which spawns a grandchild;
 *                                 all of them merge and part, again and again
 *   serve PATIENCE                two jobs meet at a port, merge and part, again and again; this
 * one writes the name of the port to standard output, and each waits PATIENCE seconds for the other
 *   call PATIENCE PORT            the other one
 *
 * Rank 0 of the first job ends it all once its standard input has come to its end.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a process of a job that is lost is waited for. */
static MPI_Info Patience(const char* seconds) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", seconds);
  return info;
}

/* All members of the job hear whether its rank 0 has been told to end. */
static int IsToGoOn(void) {
  char letter;
  int rank, goes_on = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 0) > 0) goes_on = read(STDIN_FILENO, &letter, 1) > 0;
  }
  MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return goes_on;
}

static void Mingle(MPI_Comm* inter, int is_high) {
  MPI_Comm all;
  int one = 1, size, sum;
  MPI_Intercomm_merge(*inter, is_high, &all);
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  if (sum != size) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Comm_disconnect(&all);
  MPI_Comm_disconnect(inter);
}

static void Spawn(char* program, char* role, int count, MPI_Comm comm) {
  MPI_Comm inter;
  char* words[] = {role, NULL};
  MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE);
  Mingle(&inter, 0);
}

static void Meet(int serves, const char* patience, const char* name) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  MPI_Info info = Patience(patience);
  int rank, goes_on = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (serves && rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    printf("%s\n", port);
    fflush(stdout);
  }
  while (goes_on) {
    if (serves)
      MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter);
    else
      MPI_Comm_connect(name, info, 0, MPI_COMM_WORLD, &inter);
    if (serves) goes_on = IsToGoOn();
    MPI_Bcast(&goes_on, 1, MPI_INT, serves ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
    Mingle(&inter, !serves);
  }
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&parent);
  if (strcmp(argv[1], "family") == 0)
    while (IsToGoOn()) Spawn(argv[0], "child", 2, MPI_COMM_WORLD);
  else if (strcmp(argv[1], "serve") == 0)
    Meet(1, argv[2], NULL);
  else if (strcmp(argv[1], "call") == 0)
    Meet(0, argv[2], argv[3]);
  if (strcmp(argv[1], "child") == 0 && rank == 0) Spawn(argv[0], "grandchild", 1, MPI_COMM_SELF);
  if (parent != MPI_COMM_NULL) Mingle(&parent, 1);
  return MPI_Finalize();
}
