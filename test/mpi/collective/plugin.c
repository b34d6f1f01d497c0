/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a component from outside the tree serves MPI_Bcast; everything else still works.
 * Method: along the component's chain every rank but the last sends one message in a broadcast,
 *         which no other algorithm does; messages are counted with the tools interface.
 */
#include <mpi.h>
#include <string.h>

#include "test/mpi/check.h"

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sent;

static void WatchMessages(void) {
  int provided, count, i;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_num(&count);
  for (i = 0; i < count; ++i) {
    char name[128];
    int name_length = sizeof name, verbosity, var_class, description_length = 0, bind, readonly;
    int continuous, atomic, objects;
    MPI_Datatype type;
    MPI_T_enum enumeration;
    MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &var_class, &type, &enumeration, NULL,
                        &description_length, &bind, &readonly, &continuous, &atomic);
    if (strcmp(name, "p2p.sent.eager.messages") != 0) continue;
    MPI_T_pvar_handle_alloc(session, i, NULL, &sent, &objects);
    if (!continuous) MPI_T_pvar_start(session, sent);
    return;
  }
  EXPECT(!"there is a counter of messages");
}

static unsigned long long Sent(void) {
  unsigned long long value = 0;
  MPI_T_pvar_read(session, sent, &value);
  return value;
}

int main(int argc, char** argv) {
  int rank, size, root, sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  WatchMessages();
  for (root = 0; root < size; ++root) {
    const int last = (root + size - 1) % size;
    int data[3] = {0, 0, 0}, i;
    unsigned long long before;
    for (i = 0; rank == root && i < 3; ++i) data[i] = 10 * root + i;
    before = Sent();
    MPI_Bcast(data, 3, MPI_INT, root, MPI_COMM_WORLD);
    EXPECT(Sent() - before == (rank == last ? 0 : 1));
    for (i = 0; i < 3; ++i) EXPECT(data[i] == 10 * root + i);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT(sum == size);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return Passed();
}
