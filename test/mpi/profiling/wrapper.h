/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LAMINA_TEST_MPI_PROFILING_WRAPPER_H
#define LAMINA_TEST_MPI_PROFILING_WRAPPER_H

struct Calls {
  int init, send, irecv, allreduce, wtime, noted;
};
const struct Calls* WrapperCalls(void);

#endif
