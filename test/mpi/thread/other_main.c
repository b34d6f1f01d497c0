/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a thread that is not the program's first one may initialise MPI; it is then the main
 *         thread and finalises (MPI-5.0, sections 11.6.1 and 11.6.2).
 * Method: everything happens in a second thread; the first asks who is the main thread meanwhile.
 */
#define _XOPEN_SOURCE 600 /* pthread_barrier_t */
#include <pthread.h>

#include "test/mpi/check.h"

static pthread_barrier_t meeting;

static void* Run(void* unused) {
  int provided = -1, flag = -1, rank, ranks, got = -1;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  EXPECT(provided >= MPI_THREAD_SERIALIZED);
  MPI_Is_thread_main(&flag);
  EXPECT(flag == 1);
  pthread_barrier_wait(&meeting);
  pthread_barrier_wait(&meeting);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &got, 1, MPI_INT,
               (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  EXPECT(got == (rank + ranks - 1) % ranks);
  MPI_Finalize();
  return unused;
}

int main(void) {
  pthread_t thread;
  int flag = -1;
  pthread_barrier_init(&meeting, NULL, 2);
  pthread_create(&thread, NULL, Run, NULL);
  pthread_barrier_wait(&meeting);
  MPI_Is_thread_main(&flag);
  if (flag != 0) ++failures;
  pthread_barrier_wait(&meeting);
  pthread_join(thread, NULL);
  MPI_Finalized(&flag);
  if (!flag) ++failures;
  return failures == 0 ? 0 : 1;
}
