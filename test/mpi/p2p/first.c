/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a first message arrives although its sender computes, without any MPI call, once the send
 *         is over: a connection that is still being made must not keep it.
 * Method: even ranks send one message to the rank behind them, by MPI_Send or by MPI_Isend and
 *         MPI_Wait, then wait for a datagram that the receiver sends when it has the message.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kPatience_ms = 10000 };

/* Makes the name of `rank`'s socket, which is in no file system. It contains the ranks' common
 * parent. */
static socklen_t NameOf(int rank, struct sockaddr_un* name) {
  memset(name, 0, sizeof *name);
  name->sun_family = AF_UNIX;
  const int length =
      snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "first.%d.%d", (int)getppid(), rank);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int main(int argc, char** argv) {
  int rank, ranks, word = 0;
  struct sockaddr_un name;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int news = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (rank % 2 == 0 && rank + 1 < ranks) {
    const socklen_t bytes = NameOf(rank, &name);
    EXPECT(bind(news, (struct sockaddr*)&name, bytes) == 0);
    word = 100 + rank;
    if (rank % 4 == 0) {
      MPI_Send(&word, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    } else {
      MPI_Request request;
      MPI_Isend(&word, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    struct pollfd arrived = {news, POLLIN, 0};
    EXPECT(poll(&arrived, 1, kPatience_ms) == 1);
  } else if (rank % 2 == 1) {
    MPI_Recv(&word, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(word == 100 + rank - 1);
    const socklen_t bytes = NameOf(rank - 1, &name);
    EXPECT(sendto(news, "", 1, 0, (struct sockaddr*)&name, bytes) == 1);
  }
  close(news);
  return Passed();
}
