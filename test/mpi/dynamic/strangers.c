/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   whoever does not know the secret of a port costs its owner nothing and learns nothing:
 * those that say nonsense, say nothing, stop in the middle, or come in crowds. A guest who is meant
 *         is let in meanwhile.
 * Method: rank 0 accepts, a thread of rank 1 plays the strangers at the address that the port's
 * name tells, and rank 1 connects.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kNonsense = 300, kSilent = 100, kGreeting = 24, kAnswer = 32, kTurns = 3 };

static char port[MPI_MAX_PORT_NAME];

static int Knock(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  address.sin_port = htons((unsigned short)atoi(strrchr(port, ':') + 1));
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT(connect(made, (struct sockaddr*)&address, sizeof address) == 0);
  return made;
}

/* What a stranger hears until it is shown out: the greeting and not a byte more. */
static void HearOut(int stranger) {
  char heard[256];
  ssize_t got, all = 0;
  while ((got = read(stranger, heard, sizeof heard)) > 0) all += got;
  EXPECT(all == kGreeting || all == 0);
  close(stranger);
}

static void* Strangers(void* seed_at) {
  unsigned seed = *(unsigned*)seed_at;
  int silent[kSilent];
  char words[4096];
  for (int i = 0; i < kSilent; ++i) silent[i] = Knock();
  for (int i = 0; i < kNonsense; ++i) {
    const int stranger = Knock();
    const size_t bytes = i % 3 == 0 ? kAnswer : 1 + rand_r(&seed) % sizeof words;
    for (size_t at = 0; at < bytes; ++at) words[at] = (char)rand_r(&seed);
    if (i % 2 == 0) memcpy(words, "LAMINA1\n", bytes < 8 ? bytes : 8);
    (void)!send(stranger, words, bytes, MSG_NOSIGNAL);
    if (i % 30 == 0)
      HearOut(stranger);
    else
      close(stranger);
  }
  for (int i = 0; i < kSilent; ++i) close(silent[i]);
  return NULL;
}

static int Descriptors(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  int rank, level, before = 0;
  MPI_Comm inter;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (unsigned turn = 0; turn < kTurns; ++turn) {
    pthread_t strangers;
    double began = MPI_Wtime();
    if (rank == 1) pthread_create(&strangers, NULL, Strangers, &turn);
    if (rank == 0)
      MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    else if (rank == 1)
      MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    if (rank < 2) {
      EXPECT(MPI_Wtime() - began < 10);
      int theirs = -1;
      MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
      EXPECT(theirs == 1 - rank);
      MPI_Comm_disconnect(&inter);
    }
    /* The next accept, for which nobody comes, looks at those that are still outside. */
    if (rank == 0) {
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "timeout", "1");
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      for (int i = 0; i < 2; ++i)
        EXPECT(ClassOf(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter)) == MPI_ERR_PORT);
      MPI_Info_free(&info);
      if (turn == 0) before = Descriptors();
      EXPECT(Descriptors() == before);
    }
    if (rank == 1) pthread_join(strangers, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) MPI_Close_port(port);
  return Passed();
}
