/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   MPI_Init_thread gives a level and MPI_Query_thread the same one; the thread that
 *         initialised is the main thread and no other is (MPI-5.0, section 11.6).
 * Method: argument: the level to ask for, or none for MPI_Init; each rank asks from two threads.
 */
#include <pthread.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static int query_elsewhere = -1, main_elsewhere = -1, initialized_elsewhere = -1;

/* Section 11.6.2: these may be called from any thread at any level. */
static void* Elsewhere(void* unused) {
  MPI_Query_thread(&query_elsewhere);
  MPI_Is_thread_main(&main_elsewhere);
  MPI_Initialized(&initialized_elsewhere);
  return unused;
}

int main(int argc, char** argv) {
  int provided = -1, query = -1, flag = -1, rank = -1, ranks = -1, value = 5, sum = 0;
  pthread_t thread;
  const int required = argc > 1 ? atoi(argv[1]) : MPI_THREAD_SINGLE;
  if (argc > 1)
    MPI_Init_thread(&argc, &argv, required, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Query_thread(&query);
  if (argc > 1) EXPECT(provided >= required && provided <= MPI_THREAD_MULTIPLE);
  if (argc > 1) EXPECT(query == provided);
  EXPECT(query >= MPI_THREAD_SINGLE && query <= MPI_THREAD_MULTIPLE);
  MPI_Is_thread_main(&flag);
  EXPECT(flag == 1);
  if (query > MPI_THREAD_SINGLE) {
    pthread_create(&thread, NULL, Elsewhere, NULL);
    pthread_join(thread, NULL);
    EXPECT(query_elsewhere == query && main_elsewhere == 0 && initialized_elsewhere == 1);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == 5 * ranks);
  return Passed();
}
