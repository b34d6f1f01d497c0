/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   groups that share nothing but the name of a port, of a service or a socket become an
 *         intercommunicator, and what cannot be raises the same error in all of the group.
 * Method: the ranks of one job play two programs, the even and the odd ones.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/mpi/check.h"

static int rank, size;
static MPI_Comm half;

/* Rank 0 of each half has the number of the other half's ranks afterwards. */
static void Talk(MPI_Comm inter) {
  int mine, remote, sum, is_inter;
  MPI_Comm merged;
  MPI_Comm_test_inter(inter, &is_inter);
  EXPECT(is_inter);
  MPI_Comm_rank(inter, &mine);
  MPI_Comm_remote_size(inter, &remote);
  EXPECT(remote == (size + (rank % 2)) / 2);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  int expected = 0;
  for (int i = 1 - rank % 2; i < size; i += 2) expected += i;
  EXPECT(sum == expected);
  MPI_Intercomm_merge(inter, rank % 2, &merged);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  EXPECT(sum == size * (size - 1) / 2);
  MPI_Comm_disconnect(&merged);
}

static void Meet(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  for (int turn = 0; turn < 3; ++turn) {
    if (rank == 0) EXPECT(MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank % 2 == 0)
      MPI_Comm_accept(rank == 0 ? port : NULL, MPI_INFO_NULL, 0, half, &inter);
    else
      MPI_Comm_connect(rank == 1 ? port : NULL, MPI_INFO_NULL, 0, half, &inter);
    Talk(inter);
    MPI_Comm_disconnect(&inter);
    EXPECT(inter == MPI_COMM_NULL);
    if (rank == 0) MPI_Close_port(port);
  }
}

static void MeetByName(void) {
  char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
  char service[64];
  MPI_Comm inter;
  /* Other jobs of this user may run at the same time. */
  snprintf(service, sizeof service, "lamina test %d, half", (int)getpid());
  MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Lookup_name(service, MPI_INFO_NULL, found)) == MPI_ERR_NAME);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    EXPECT(MPI_Publish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
    EXPECT(ClassOf(MPI_Publish_name(service, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_Lookup_name(service, MPI_INFO_NULL, found) == MPI_SUCCESS);
  if (rank == 0) EXPECT(strcmp(found, port) == 0);
  if (rank != 0)
    EXPECT(ClassOf(MPI_Unpublish_name(service, MPI_INFO_NULL, found)) == MPI_ERR_SERVICE);
  if (rank % 2 == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
  else
    MPI_Comm_connect(found, MPI_INFO_NULL, 0, half, &inter);
  Talk(inter);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) {
    EXPECT(MPI_Unpublish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS);
    EXPECT(ClassOf(MPI_Lookup_name(service, MPI_INFO_NULL, found)) == MPI_ERR_NAME);
    MPI_Close_port(port);
  }
  EXPECT(ClassOf(MPI_Publish_name(NULL, MPI_INFO_NULL, found)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Lookup_name("", MPI_INFO_NULL, found)) == MPI_ERR_ARG);
}

/* What is wrong with a port is found at the root, and told to all. */
static void Mistakes(void) {
  char port[MPI_MAX_PORT_NAME], closed[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  MPI_Info soon;
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (rank < 2) {
    MPI_Open_port(MPI_INFO_NULL, closed);
    MPI_Open_port(MPI_INFO_NULL, port);
    EXPECT(strcmp(port, closed) != 0);
    EXPECT(MPI_Close_port(closed) == MPI_SUCCESS);
    EXPECT(ClassOf(MPI_Close_port(closed)) == MPI_ERR_PORT);
  }
  EXPECT(ClassOf(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  EXPECT(ClassOf(MPI_Comm_connect(closed, MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  EXPECT(ClassOf(MPI_Comm_accept(closed, MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  if (rank < 2) port[12] ^= 1;
  EXPECT(ClassOf(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter)) == MPI_ERR_PORT);
  if (rank < 2) port[12] ^= 1;
  MPI_Info_create(&soon);
  MPI_Info_set(soon, "timeout", "1");
  EXPECT(ClassOf(MPI_Comm_connect(port, soon, 0, half, &inter)) == MPI_ERR_PORT);
  MPI_Info_free(&soon);
  if (rank < 2) MPI_Close_port(port);
  EXPECT(ClassOf(MPI_Comm_accept(port, MPI_INFO_NULL, size, half, &inter)) == MPI_ERR_ROOT);
}

static void Join(void) {
  int ends[2];
  char letter = 'x';
  MPI_Comm inter;
  if (rank != 0) return;
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  /* What speaks no MPI is left as it is. */
  EXPECT(write(ends[1], "hello, world", 12) == 12);
  EXPECT(ClassOf(MPI_Comm_join(ends[0], &inter)) == MPI_ERR_OTHER);
  EXPECT(read(ends[0], &letter, 1) == 1 && letter == 'h');
  EXPECT(ClassOf(MPI_Comm_join(-1, &inter)) == MPI_ERR_ARG);
  EXPECT(pipe(ends) == 0);
  EXPECT(ClassOf(MPI_Comm_join(ends[0], &inter)) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  if (size > 1) Meet();
  if (argc < 2) {
    if (size > 1) MeetByName();
    Mistakes();
    Join();
  }
  return Passed();
}
