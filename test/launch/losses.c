/* SPDX-License-Identifier: BSD-3-Clause
 * The program of losses_test.py. Two or three runs meet at ports, and the last process of the
 * second one kills itself. Every process of the other runs waits for it alone, and in collectives.
 *
 *   first SHAPE -             says the name of a port, at which the second run comes
 *   second SHAPE PORT         in a bridge it says the name of its own port, for the third run
 *   third SHAPE PORT          comes to the first run's port, in a bridge to the second one's
 *
 * SHAPE is two, three or bridge, where all have one communicator, or inter, where two runs have an
 * intercommunicator. What they do may follow, for two runs: words of Do(), "die" where the process
 * kills itself, "lost" where everybody has to have heard of that, and in front of all "fatal" if
 * errors are not to return. The first run says "heard" once every survivor of it has heard, the
 * third one does so too.
 */
#include <signal.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kTag = 5 };
static int is_victim, is_second;

static MPI_Comm Merged(MPI_Comm inter, int is_high) {
  MPI_Comm all;
  MPI_Intercomm_merge(inter, is_high, &all);
  MPI_Comm_free(&inter);
  return all;
}

/* The whole of `comm` accepts, and one of the ranks that are `first` says where. */
static MPI_Comm Met(MPI_Comm comm) {
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
  return inter;
}

static MPI_Comm Found(MPI_Comm comm, const char* port) {
  MPI_Comm inter;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter);
  return inter;
}

static MPI_Comm Accept(MPI_Comm comm) { return Merged(Met(comm), 0); }
static MPI_Comm Connect(MPI_Comm comm, const char* port) { return Merged(Found(comm, port), 1); }

/* Returns a communicator of all runs. Between the first and the third one of a bridge nobody has
 * met anybody; the second run introduces them. */
static MPI_Comm Gather(const char* role, const char* shape, const char* port) {
  MPI_Comm both, bridge, inter;
  int leader = 0, size, second;
  if (strcmp(shape, "inter") == 0)
    return strcmp(role, "first") == 0 ? Met(MPI_COMM_WORLD) : Found(MPI_COMM_WORLD, port);
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

/* Errors of this class must not name a rank that there is not. */
static int IsLoss(int error) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (ClassOf(error) != MPI_ERR_PROC_ABORTED) return 0;
  MPI_Error_string(error, text, &length);
  EXPECT(strstr(text, "rank -") == NULL);
  return 1;
}

/* How many there are whom one may send to. */
static int Destinations(MPI_Comm all) {
  int size, is_inter;
  MPI_Comm_test_inter(all, &is_inter);
  if (is_inter)
    MPI_Comm_remote_size(all, &size);
  else
    MPI_Comm_size(all, &size);
  return size;
}

enum { kLongBytes = 1 << 20 };

/* All others that can tell the victim, which then kills itself. No collective is needed for that.
 */
static void Die(MPI_Comm all, int victim) {
  int is_inter, senders = Destinations(all);
  MPI_Comm_test_inter(all, &is_inter);
  if (is_victim) {
    if (!is_inter) --senders;
  } else {
    if (!is_inter || !is_second) MPI_Send(NULL, 0, MPI_INT, victim, kTag, all);
    return;
  }
  while (senders-- > 0) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, kTag, all, MPI_STATUS_IGNORE);
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

/* Looks for a message that nobody sends. */
static int Listen(const char* how, MPI_Comm all) {
  enum { kNeverSent = kTag + 1 };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  int error = MPI_SUCCESS, value, flag = 0;
  if (strcmp(how, "any") == 0)
    return MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, kNeverSent, all, MPI_STATUS_IGNORE);
  if (strcmp(how, "any-probe") == 0)
    return MPI_Probe(MPI_ANY_SOURCE, kNeverSent, all, MPI_STATUS_IGNORE);
  if (strcmp(how, "any-mprobe") == 0)
    return MPI_Mprobe(MPI_ANY_SOURCE, kNeverSent, all, &message, MPI_STATUS_IGNORE);
  if (strcmp(how, "any-irecv") == 0 || strcmp(how, "any-test") == 0)
    error = MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, kNeverSent, all, &request);
  if (strcmp(how, "any-irecv") == 0) return DoLater(error, &request);
  while (error == MPI_SUCCESS && !flag)
    error = strcmp(how, "any-iprobe") == 0
                ? MPI_Iprobe(MPI_ANY_SOURCE, kNeverSent, all, &flag, MPI_STATUS_IGNORE)
                : MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  return error;
}

/* A persistent collective, of which an error is told by the call that waits for it. */
static int DoAgain(MPI_Comm all) {
  MPI_Request request;
  int error = MPI_Barrier_init(all, MPI_INFO_NULL, &request);
  if (error == MPI_SUCCESS) error = MPI_Start(&request);
  if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  return error;
}

/* Does one thing on a communicator of which a process is lost or about to be. It has to end. */
static int Do(const char* what, MPI_Comm* all, int victim) {
  static char bytes[kLongBytes];
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int rank, value = 1, sum, root = 0, is_inter;
  MPI_Comm_rank(*all, &rank);
  MPI_Comm_test_inter(*all, &is_inter);
  if (is_inter && is_second) root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  if (strcmp(what, "hear") == 0)
    return MPI_Recv(&value, 1, MPI_INT, victim, 0, *all, MPI_STATUS_IGNORE);
  if (strncmp(what, "any", 3) == 0) return Listen(what, *all);
  if (strcmp(what, "persistent") == 0) return DoAgain(*all);
  if (strcmp(what, "test") == 0) return Poll(0, *all, victim);
  if (strcmp(what, "probe") == 0) return Poll(1, *all, victim);
  if (strcmp(what, "barrier") == 0) return MPI_Barrier(*all);
  if (strcmp(what, "allreduce") == 0) return MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, *all);
  if (strcmp(what, "bcast") == 0) return MPI_Bcast(bytes, kLongBytes, MPI_BYTE, root, *all);
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
  is_second = strcmp(role, "second") == 0;
  is_victim = is_second && world_rank == world_size - 1;
  if (argc < 5) {
    Wait(all);
  } else {
    size = Destinations(all);
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
