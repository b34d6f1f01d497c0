/* SPDX-License-Identifier: BSD-3-Clause
 * A tool in C for f08_large.f90: it sees what Fortran sends (MPI-5.0, section 15.2.7).
 */
#include <mpi.h>

static int sends;

int MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm) {
  ++sends;
  return PMPI_Send_c(buf, count, datatype, dest, tag, comm);
}

int sends_seen(void) { return sends; }
