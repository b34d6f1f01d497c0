/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a thread of a tool may look beside an MPI that knows of one thread only: it reads all
 * that is bound to nothing, and is refused what is bound to a communicator (MPI-5.0, section
 *         15.3.4; which variables there are is ours).
 * Method: MPI_THREAD_FUNNELED; the main thread exchanges messages while the other reads.
 */
#include <pthread.h>

#include "test/mpi/tool/tool.h"

enum { kRounds = 50, kMessages = 500 };

static void* Look(void* unused) {
  int provided, count = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  HOLDS(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
  for (int round = 0; round < kRounds; ++round) {
    MPI_T_pvar_session session;
    HOLDS(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    for (int i = 0; i < count; ++i) {
      unsigned long long value = 0;
      int class, bind, elements;
      MPI_T_pvar_handle handle;
      MPI_T_pvar_get_info(i, NULL, NULL, NULL, &class, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                          NULL);
      HOLDS(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &elements) == MPI_SUCCESS);
      HOLDS(MPI_T_pvar_read(session, handle, &value) ==
            (bind == MPI_T_BIND_NO_OBJECT ? MPI_SUCCESS : MPI_T_ERR_NOT_ACCESSIBLE));
    }
    HOLDS(MPI_T_pvar_session_free(&session) == MPI_SUCCESS);
  }
  HOLDS(MPI_T_finalize() == MPI_SUCCESS);
  return unused;
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (provided > MPI_THREAD_SERIALIZED) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_create(&thread, NULL, Look, NULL);
  for (int i = 0; i < kMessages; ++i) {
    int got = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    HOLDS(got == i);
  }
  pthread_join(thread, NULL);
  MPI_Finalize();
  return Ended();
}
