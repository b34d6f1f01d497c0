/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: several threads open and close sessions and make communicators at the same time, told apart
 * by their string tags, whatever order they come in (MPI-5.0, sections 11.3, 11.6 and 7.4.2).
 */
#include <pthread.h>

#include "test/mpi/session/session.h"

#define THREADS 4
#define ROUNDS 10

static void* Work(void* argument) {
  const int me = (int)(long)argument;
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    MPI_Session session = Open();
    MPI_Comm comm;
    char tag[30];
    int sum = 0;
    sprintf(tag, "thread %d", me);
    comm = CommOf(session, "mpi://WORLD", tag);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == me * SizeOf(comm));
    MPI_Comm_free(&comm);
    EXPECT(MPI_Session_finalize(&session) == MPI_SUCCESS);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  long i;
  for (i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, Work, (void*)i);
  for (i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return failures != 0;
}
