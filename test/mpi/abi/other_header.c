/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a program compiled with another implementation's header of the same ABI runs here
 *         (MPI-5.0, chapter 21).
 * Method: a header written by hand, never mpi.h; handles, statuses, constants and large counts are
 *         used.
 */
#include "test/mpi/abi/other_header.h"

#include <stdio.h>

static int failures;
static void Expect(int holds, int line, const char* expression) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "line %d: does not hold: %s\n", line, expression);
}
#define EXPECT(expression) Expect(expression, __LINE__, #expression)

int main(int argc, char** argv) {
  int major = 0, minor = -1, rank = -1, size = -1, count = -1, class = -1;
  double column[6] = {1, 2, 3, 4, 5, 6}, sum[2] = {1, 2};
  int in[2] = {-1, -1};
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Count lower = -1, extent = -1;
  MPI_Request requests[2];
  MPI_Status statuses[2];

  EXPECT(sizeof(MPI_Status) == 32);
  EXPECT(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor >= 0);
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_rank(twin, &rank);
  MPI_Comm_size(twin, &size);
  MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, MPI_PROC_NULL, 3, twin, &requests[1]);
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 9, twin);
  MPI_Waitall(2, requests, statuses);
  EXPECT(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  EXPECT(in[0] == (rank + size - 1) % size && in[1] == -1);
  EXPECT(statuses[0].MPI_SOURCE == in[0] && statuses[0].MPI_TAG == 9);
  EXPECT(MPI_Get_count(&statuses[0], MPI_BYTE, &count) == MPI_SUCCESS && count == 4);
  EXPECT(statuses[1].MPI_SOURCE == MPI_PROC_NULL && statuses[1].MPI_TAG == MPI_ANY_TAG);

  MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_get_extent_c(vector, &lower, &extent);
  EXPECT(lower == 0 && extent == 40);
  MPI_Irecv(column, 1, vector, (rank + size - 1) % size, 1, twin, &requests[0]);
  MPI_Send(column + 1, 1, vector, (rank + 1) % size, 1, twin);
  MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
  EXPECT(column[0] == 2 && column[2] == 4 && column[4] == 6);
  MPI_Type_free(&vector);
  EXPECT(vector == MPI_DATATYPE_NULL);

  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, twin);
  EXPECT(sum[0] == size && sum[1] == 2 * size);
  MPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Send(&rank, 1, MPI_INT, 0, -7, twin), &class);
  EXPECT(class == MPI_ERR_TAG);
  MPI_Comm_free(&twin);
  EXPECT(twin == MPI_COMM_NULL);
  MPI_Finalize();
  return failures != 0;
}
