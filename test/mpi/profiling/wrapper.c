/* SPDX-License-Identifier: BSD-3-Clause
 * A profiling tool: stands before a few MPI functions and counts (MPI-5.0, section 15.2). Linked
 * into the program or as a library before MPI's, without the program knowing.
 */
#include "test/mpi/profiling/wrapper.h"

#include <mpi.h>
#include <stdarg.h>

static struct Calls calls;
static int counting = 1;

__attribute__((visibility("default"))) const struct Calls* WrapperCalls(void) { return &calls; }

int MPI_Init(int* argc, char*** argv) {
  ++calls.init;
  return PMPI_Init(argc, argv);
}

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  calls.send += counting;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request* request) {
  calls.irecv += counting;
  return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
  calls.allreduce += counting;
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

double MPI_Wtime(void) {
  ++calls.wtime;
  return PMPI_Wtime();
}

/* 0 turns profiling off and 1 turns it on (section 15.2.4); larger numbers are ours. */
int MPI_Pcontrol(const int level, ...) {
  va_list more;
  counting = level != 0;
  if (level == 2) {
    va_start(more, level);
    calls.noted = va_arg(more, int);
    va_end(more);
  }
  return MPI_SUCCESS;
}
