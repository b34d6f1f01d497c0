/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: a datatype may be freed while communication that uses it is pending; what was started still
 * ends well (MPI-5.0, section 5.1.9).
 * Other types are made at once, so that memory given back too early would hold something else.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

#define N 400

static MPI_Datatype Column(void) {
  MPI_Datatype type;
  MPI_Type_vector(N, 1, N, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

int main(int argc, char** argv) {
  int rank, size, i, k, wrong = 0;
  int* from = malloc(sizeof(int) * N * N);
  int* into = calloc(N * N, sizeof(int));
  MPI_Request requests[2 * N];
  MPI_Datatype others[50];

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < N * N; ++i) from[i] = rank + i;
  for (i = 0; i < N; ++i) {
    MPI_Datatype type = Column();
    MPI_Irecv(into + i, 1, type, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Type_free(&type);
  }
  for (k = 0; k < 50; ++k) MPI_Type_contiguous(k + 1, MPI_DOUBLE, &others[k]);
  for (i = 0; i < N; ++i) {
    MPI_Datatype type = Column();
    MPI_Isend(from + i, 1, type, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[N + i]);
    MPI_Type_free(&type);
  }
  MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i < N * N; ++i) wrong += into[i] != (rank + size - 1) % size + i;
  EXPECT(wrong == 0);
  for (k = 0; k < 50; ++k) MPI_Type_free(&others[k]);
  free(from);
  free(into);
  return Passed();
}
