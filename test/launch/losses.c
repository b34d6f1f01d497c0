/* SPDX-License-Identifier: BSD-3-Clause
 * The program of losses_test.py. Two or three runs meet at ports, and the last process of the
 * second one kills itself. Every process of the other runs waits for it alone, and in collectives.
 *
 *   first two|three|bridge -  says the name of a port, at which the second run comes
 *   second SHAPE PORT         in a bridge it says the name of its own port, for the third run
 *   third SHAPE PORT          comes to the first run's port, in a bridge to the second one's
 *
 * What they do may follow, for two runs: words of Do(), "die" where the process kills itself,
 * "lost" where everybody has to have heard of that, and in front of all "fatal" if errors are not
 * to return. The first run says "heard" once every survivor of it has heard, the third one does so
 * too.
 */
#include <signal.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kTag = 5 };
static int is_victim;

static MPI_Comm Merged(MPI_Comm inter, int is_high) {
  MPI_Comm all;
  MPI_Intercomm_merge(inter, is_high, &all);
  MPI_Comm_free(&inter);
  return all;
}

/* The whole of `comm` accepts, and one of the ranks that are `first` says where. */
static MPI_Comm Accept(MPI_Comm comm) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    printf("%s\n", port);
    fflush(stdout);
  }
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter);
  return Merged(inter, 0);
}

static MPI_Comm Connect(MPI_Comm comm, const char* port) {
  MPI_Comm inter;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter);
  return Merged(inter, 1);
}

/* Returns a communicator of all runs. Between the first and the third one of a bridge nobody has
 * met anybody; the second run introduces them. */
static MPI_Comm Gather(const char* role, const char* shape, const char* port) {
  MPI_Comm both, bridge, inter;
  int leader = 0, size, second;
  if (strcmp(shape, "bridge") != 0) {
    if (strcmp(role, "third") == 0) return Connect(MPI_COMM_WORLD, port);
    both = strcmp(role, "first") == 0 ? Accept(MPI_COMM_WORLD) : Connect(MPI_COMM_WORLD, port);
    return strcmp(shape, "two") == 0 ? both : Accept(both);
  }
  if (strcmp(role, "third") == 0) {
    bridge = Connect(MPI_COMM_WORLD, port);
    MPI_Intercomm_create(MPI_COMM_WORLD, 0, bridge, 0, kTag, &inter);
    return Merged(inter, 1);
  }
  second = strcmp(role, "second") == 0;
  both = second ? Connect(MPI_COMM_WORLD, port) : Accept(MPI_COMM_WORLD);
  MPI_Comm_size(MPI_COMM_WORLD, &leader);
  if (second) {
    MPI_Comm_size(both, &size);
    leader = size - leader;
    bridge = Accept(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  } else {
    bridge = MPI_COMM_NULL;
    size = 0;
  }
  MPI_Intercomm_create(both, leader, bridge, size, kTag, &inter);
  return Merged(inter, 0);
}

static int IsLoss(int error) { return ClassOf(error) == MPI_ERR_PROC_ABORTED; }

enum { kLongBytes = 1 << 20 };

/* All others tell the victim, which then kills itself. No collective is needed for that. */
static void Die(MPI_Comm all, int victim) {
  int rank, size;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  if (rank != victim) {
    MPI_Send(NULL, 0, MPI_INT, victim, kTag, all);
    return;
  }
  while (--size > 0) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, kTag, all, MPI_STATUS_IGNORE);
  raise(SIGKILL);
}

/* Polls until there is an error or a message. */
static int Poll(int probes, MPI_Comm all, int victim) {
  MPI_Request request;
  int error = MPI_SUCCESS, value, flag = 0;
  if (!probes) MPI_Irecv(&value, 1, MPI_INT, victim, 0, all, &request);
  while (error == MPI_SUCCESS && !flag)
    error = probes ? MPI_Iprobe(victim, 0, all, &flag, MPI_STATUS_IGNORE)
                   : MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return error;
}

static int DoLater(int error, MPI_Request* request) {
  return error != MPI_SUCCESS ? error : MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Does one thing on a communicator of which a process is lost or about to be. It has to end. */
static int Do(const char* what, MPI_Comm* all, int victim) {
  static char bytes[kLongBytes];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int rank, value = 1, sum;
  MPI_Comm_rank(*all, &rank);
  if (strcmp(what, "hear") == 0)
    return MPI_Recv(&value, 1, MPI_INT, victim, 0, *all, MPI_STATUS_IGNORE);
  if (strcmp(what, "test") == 0) return Poll(0, *all, victim);
  if (strcmp(what, "probe") == 0) return Poll(1, *all, victim);
  if (strcmp(what, "barrier") == 0) return MPI_Barrier(*all);
  if (strcmp(what, "allreduce") == 0) return MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, *all);
  if (strcmp(what, "bcast") == 0) return MPI_Bcast(bytes, kLongBytes, MPI_BYTE, 0, *all);
  if (strcmp(what, "ibarrier") == 0) return DoLater(MPI_Ibarrier(*all, &request), &request);
  if (strcmp(what, "idup") == 0) return DoLater(MPI_Comm_idup(*all, &made, &request), &request);
  if (strcmp(what, "dup") == 0) return MPI_Comm_dup(*all, &made);
  if (strcmp(what, "split") == 0) return MPI_Comm_split(*all, 0, rank, &made);
  if (strcmp(what, "disconnect") == 0) return MPI_Comm_disconnect(all);
  /* The first one stays away from what the others do. */
  if (strncmp(what, "without-", 8) == 0) return rank == 0 ? MPI_SUCCESS : Do(what + 8, all, victim);
  EXPECT(!"a known word");
  return MPI_SUCCESS;
}

/* Everybody is waited for, alone and in collectives. */
static void Wait(MPI_Comm all) {
  int rank, size, world_rank, victim, root, losses = 0, value = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  int* values = calloc((size_t)size, sizeof *values);
  value = is_victim ? rank : 0;
  MPI_Allreduce(&value, &victim, 1, MPI_INT, MPI_MAX, all);
  MPI_Barrier(all); /* whoever leaves it knows that all know the victim */
  if (is_victim) raise(SIGKILL);
  if (world_rank % 2 == 0) {
    EXPECT(IsLoss(MPI_Recv(&value, 1, MPI_INT, victim, 0, all, MPI_STATUS_IGNORE)));
  }
  for (root = 0; root < size; ++root)
    losses += IsLoss(MPI_Gather(&rank, 1, MPI_INT, values, 1, MPI_INT, root, all));
  EXPECT(losses > 0);
  free(values);
}

int main(int argc, char** argv) {
  int world_rank, world_size, size, i, losses = 0;
  MPI_Init(&argc, &argv);
  const char *role = argv[1], *shape = argv[2], *port = argv[3];
  MPI_Comm all = Gather(role, shape, port);
  if (argc < 5 || strcmp(argv[4], "fatal") != 0) MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  is_victim = strcmp(role, "second") == 0 && world_rank == world_size - 1;
  if (argc < 5) {
    Wait(all);
  } else {
    MPI_Comm_size(all, &size);
    for (i = 4; i < argc; ++i) {
      if (strcmp(argv[i], "fatal") == 0) continue;
      if (strcmp(argv[i], "die") == 0)
        Die(all, size - 1);
      else if (strcmp(argv[i], "lost") == 0)
        EXPECT(losses > 0);
      else
        losses += IsLoss(Do(argv[i], &all, size - 1));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("heard\n");
  return Passed();
}
