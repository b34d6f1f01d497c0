/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the tool interface may be used from several threads while others communicate (MPI-5.0,
 *         section 15.3.4).
 * Method: threads open sessions, read every variable that needs no object, and close again, while
 *         the main thread exchanges messages; an event's callback counts beside them.
 */
#include <pthread.h>

#include "test/mpi/check.h"

enum { kThreads = 3, kRounds = 20, kMessages = 300 };

static int bad[kThreads];

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  int provided, count = 0;
  bad[me] += MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS;
  MPI_T_pvar_get_num(&count);
  for (int round = 0; round < kRounds; ++round) {
    MPI_T_pvar_session session;
    bad[me] += MPI_T_pvar_session_create(&session) != MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
      MPI_T_pvar_handle handle;
      unsigned long long value[64];
      int class = 0, bind = 0, continuous = 0, elements = 0;
      MPI_T_pvar_get_info(i, NULL, NULL, NULL, &class, NULL, NULL, NULL, NULL, &bind, NULL,
                          &continuous, NULL);
      if (bind != MPI_T_BIND_NO_OBJECT) continue;
      bad[me] += MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &elements) != MPI_SUCCESS;
      if (!continuous) bad[me] += MPI_T_pvar_start(session, handle) != MPI_SUCCESS;
      bad[me] += MPI_T_pvar_read(session, handle, value) != MPI_SUCCESS;
    }
    bad[me] += MPI_T_pvar_session_free(&session) != MPI_SUCCESS;
  }
  bad[me] += MPI_T_finalize() != MPI_SUCCESS;
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, rank, ranks;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int i = 0; i < kMessages; ++i) {
    int got = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(got == i);
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < kThreads; ++t) EXPECT(bad[t] == 0);
  return Passed();
}
