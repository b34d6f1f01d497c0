/* SPDX-License-Identifier: BSD-3-Clause
 * The program of losses_test.py. Two or three runs meet at ports, and the last process of the
 * second one kills itself. Every process of the other runs waits for it alone, and in collectives.
 *
 *   first two|three|bridge    says the name of a port, at which the second run comes
 *   second SHAPE PORT         in a bridge it says the name of its own port, for the third run
 *   third SHAPE PORT          comes to the first run's port, in a bridge to the second one's
 *
 * The first run says "heard" once every survivor of it has heard, the third one does so too.
 */
#include <signal.h>
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kTag = 5 };

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

int main(int argc, char** argv) {
  int rank, size, world_rank, world_size, victim, root = 0, losses = 0, value = 0;
  MPI_Init(&argc, &argv);
  const char *role = argv[1], *shape = argv[2], *port = argc > 3 ? argv[3] : NULL;
  MPI_Comm all = Gather(role, shape, port);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const int is_victim = strcmp(role, "second") == 0 && world_rank == world_size - 1;
  int* values = calloc((size_t)size, sizeof *values);
  value = is_victim ? rank : 0;
  MPI_Allreduce(&value, &victim, 1, MPI_INT, MPI_MAX, all);
  if (is_victim) raise(SIGKILL);
  if (world_rank % 2 == 0) {
    EXPECT(IsLoss(MPI_Recv(&value, 1, MPI_INT, victim, 0, all, MPI_STATUS_IGNORE)));
  }
  for (root = 0; root < size; ++root)
    losses += IsLoss(MPI_Gather(&rank, 1, MPI_INT, values, 1, MPI_INT, root, all));
  EXPECT(losses > 0);
  free(values);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("heard\n");
  return Passed();
}
