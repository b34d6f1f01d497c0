/* SPDX-License-Identifier: BSD-3-Clause
 * Both sides of an intercommunicator merge, count themselves and part.
 */
#ifndef LAMINA_TEST_MPI_TALK_H
#define LAMINA_TEST_MPI_TALK_H

#include <mpi.h>

#include "test/mpi/check.h"

static inline void Talk(MPI_Comm inter, int is_high) {
  MPI_Comm all;
  int one = 1, sum = 0, size;
  MPI_Intercomm_merge(inter, is_high, &all);
  MPI_Comm_size(all, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  EXPECT(sum == size);
  MPI_Comm_disconnect(&all);
}

#endif
