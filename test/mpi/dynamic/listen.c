/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   ports listen where they are told to: at a TCP port out of a range, at an address of
 *         IPv6.
 * Method: rank 0 may use a port that is taken and rank 1 a hundred ports, one of which will be
 *         free; then they meet at ::1, if there is such an address here.
 */
#define _DEFAULT_SOURCE
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/mpi/check.h"

/* Returns a socket that listens somewhere, and sets its port; -1: there is no such address. */
static int Listen(int family, int* port) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr* const at = family == AF_INET6 ? (struct sockaddr*)&six : (struct sockaddr*)&four;
  socklen_t bytes = family == AF_INET6 ? sizeof six : sizeof four;
  const int made = socket(family, SOCK_STREAM, 0);
  if (made < 0 || bind(made, at, bytes) != 0 || listen(made, 1) != 0) return -1;
  getsockname(made, at, &bytes);
  *port = ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port);
  return made;
}

static void CheckRange(int rank, int taken) {
  char port[MPI_MAX_PORT_NAME], text[MPI_MAX_ERROR_STRING];
  int length = 0;
  const int error = MPI_Open_port(MPI_INFO_NULL, port);
  if (rank == 0) {
    EXPECT(ClassOf(error) == MPI_ERR_PORT);
    MPI_Error_string(error, text, &length);
    snprintf(port, sizeof port, ":%d", taken);
    EXPECT(strstr(text, port) != NULL);
    return;
  }
  EXPECT(error == MPI_SUCCESS);
  const int number = atoi(strrchr(port, ':') + 1);
  EXPECT(number >= 42000 && number <= 42099);
  EXPECT(MPI_Close_port(port) == MPI_SUCCESS);
}

/* Rank 0 of the range has nothing free, so rank 1 opens the port. */
static void Meet(int rank) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  MPI_Info info;
  int other = -1;
  if (rank == 1) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "lamina_listen", "::1");
    EXPECT(MPI_Open_port(info, port) == MPI_SUCCESS);
    EXPECT(strstr(port, "@[::1]:") != NULL);
    MPI_Info_free(&info);
    MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  } else {
    MPI_Recv(port, sizeof port, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  }
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
  EXPECT(other == 1 - rank);
  MPI_Comm_disconnect(&inter);
}

int main(int argc, char** argv) {
  int rank = atoi(getenv("PMIX_RANK")), port = 0, six;
  const int taken = Listen(AF_INET, &port);
  char range[64];
  snprintf(range, sizeof range, "%d-%d", rank == 0 ? port : 42000, rank == 0 ? port : 42099);
  setenv("LAMINA_DYNAMIC_PORT_RANGE", range, 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(taken >= 0);
  CheckRange(rank, port);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  six = Listen(AF_INET6, &port) >= 0;
  if (!six && rank == 0) printf("skipped: this machine has no ::1\n");
  if (six) Meet(rank);
  return Passed();
}
