/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   calls of a program go through a tool that stands before the MPI functions, PMPI_ names go
 *         past it, and what the library does inside is not seen (MPI-5.0, sections 15.2.1, 15.2.4
 *         and 15.2.7).
 * Method: known numbers of calls under both names; the tool is asked what it saw. Built twice, with
 *         the tool as an object and as a library of its own.
 */
#include "test/mpi/check.h"
#include "test/mpi/profiling/wrapper.h"

int main(int argc, char** argv) {
  int rank, ranks, value = 1, sum = 0;
  MPI_Request request;
  const struct Calls* calls = WrapperCalls();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  EXPECT(calls->init == 1);
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(&value, 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, &request);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(value == (rank + ranks - 1) % ranks);
  }
  EXPECT(calls->send == 3 && calls->irecv == 3);
  value = 1;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(sum == ranks && calls->allreduce == 1);
  EXPECT(calls->send == 3 && calls->irecv == 3); /* none by the collectives */
  PMPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == ranks && calls->allreduce == 1);
  EXPECT(MPI_Wtime() <= PMPI_Wtime());
  EXPECT(calls->wtime == 1);

  EXPECT(MPI_Pcontrol(0) == MPI_SUCCESS);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(calls->allreduce == 1);
  EXPECT(MPI_Pcontrol(2, 77) == MPI_SUCCESS);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(calls->allreduce == 2 && calls->noted == 77);
  /* Without a tool it does nothing (section 15.2.4), so this changes nothing here. */
  EXPECT(PMPI_Pcontrol(0) == MPI_SUCCESS);
  EXPECT(PMPI_Pcontrol(17, "anything", 1.5) == MPI_SUCCESS);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(calls->allreduce == 3);
  return Passed();
}
