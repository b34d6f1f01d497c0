/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   MPI_Isendrecv and MPI_Isendrecv_replace are one request whose status is the receive's;
 *         both halves go on by themselves, with MPI_PROC_NULL on either side, wildcards, derived
 *         types and every way of completion (MPI-5.0, section 3.11).
 * Method: rings of several sizes in which nobody waits before everybody has started; shifts at the
 *         ends of a line; truncation of the receiving half; a request that is freed at once.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank, ranks;

static void Ring(int count, int large) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int* out = malloc((size_t)count * sizeof *out + 1);
  int* in = malloc((size_t)count * sizeof *in + 1);
  MPI_Request request;
  MPI_Status status;
  int received = -1, flag = 0;
  for (int i = 0; i < count; ++i) out[i] = rank * 1000 + i;
  if (large)
    MPI_Isendrecv_c(out, count, MPI_INT, right, 5, in, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                    MPI_COMM_WORLD, &request);
  else
    MPI_Isendrecv(out, count, MPI_INT, right, 5, in, count, MPI_INT, left, 5, MPI_COMM_WORLD,
                  &request);
  EXPECT(request != MPI_REQUEST_NULL);
  if (large)
    while (!flag) MPI_Test(&request, &flag, &status);
  else
    MPI_Wait(&request, &status);
  EXPECT(request == MPI_REQUEST_NULL);
  EXPECT(status.MPI_SOURCE == left && status.MPI_TAG == 5);
  MPI_Get_count(&status, MPI_INT, &received);
  EXPECT(received == count);
  for (int i = 0; i < count; ++i)
    if (in[i] != left * 1000 + i) {
      EXPECT(in[i] == left * 1000 + i);
      break;
    }

  /* Do the same in place. */
  if (large)
    MPI_Isendrecv_replace_c(out, count, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &request);
  else
    MPI_Isendrecv_replace(out, count, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &request);
  MPI_Waitall(1, &request, &status);
  EXPECT(request == MPI_REQUEST_NULL && status.MPI_SOURCE == left && status.MPI_TAG == 6);
  EXPECT(memcmp(out, in, (size_t)count * sizeof *in) == 0);
  free(in);
  free(out);
}

/* Rank r gives to r + 1, and the ends have MPI_PROC_NULL. */
static void Line(void) {
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int out = rank, in = -7, count = -1;
  MPI_Request request;
  MPI_Status status;
  MPI_Isendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  if (left == MPI_PROC_NULL)
    EXPECT(in == -7 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG &&
           count == 0);
  else
    EXPECT(in == left && status.MPI_SOURCE == left && count == 1);
  MPI_Isendrecv_replace(&out, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(out == (left == MPI_PROC_NULL ? rank : left));
}

/* Columns of a matrix leave, and rows arrive. */
static void DerivedTypes(void) {
  enum { kRows = 300, kColumns = 40 };
  static double matrix[kRows][kColumns], column[kRows];
  MPI_Datatype type;
  MPI_Request request;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) matrix[i][j] = rank + i * 0.5 + j * 1000;
  MPI_Type_vector(kRows, 1, kColumns, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Isendrecv(&matrix[0][3], 1, type, (rank + 1) % ranks, 3, column, kRows, MPI_DOUBLE,
                (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &request);
  MPI_Type_free(&type); /* pending communication goes on */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < kRows; ++i)
    EXPECT(column[i] == (rank + ranks - 1) % ranks + i * 0.5 + 3 * 1000);
}

static void TwoOfManyAtOnce(void) {
  enum { kCount = 20 };
  MPI_Request requests[kCount];
  int out[kCount], in[kCount];
  for (int i = 0; i < kCount; ++i) {
    out[i] = rank * 100 + i;
    MPI_Isendrecv(&out[i], 1, MPI_INT, rank, i, &in[i], 1, MPI_INT, rank, kCount - 1 - i,
                  MPI_COMM_WORLD, &requests[i]);
  }
  for (int left = kCount; left > 0;) {
    int done, indices[kCount];
    MPI_Status statuses[kCount];
    MPI_Waitsome(kCount, requests, &done, indices, statuses);
    for (int i = 0; i < done; ++i)
      EXPECT(in[indices[i]] == rank * 100 + kCount - 1 - indices[i] &&
             statuses[i].MPI_TAG == kCount - 1 - indices[i]);
    left -= done;
  }
}

static void FreedAtOnce(void) {
  int out = 40 + rank, in = -1, again = -1;
  MPI_Request request;
  MPI_Isendrecv(&out, 1, MPI_INT, rank, 8, &in, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL);
  MPI_Sendrecv(&out, 1, MPI_INT, rank, 9, &again, 1, MPI_INT, rank, 8, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT(again == 40 + rank);
}

static void Truncated(void) {
  int out[2] = {1, 2}, in = -1;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Isendrecv(out, 2, MPI_INT, rank, 4, &in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &request);
  EXPECT(ClassOf(MPI_Wait(&request, &status)) == MPI_ERR_TRUNCATE);
  EXPECT(request == MPI_REQUEST_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Ring(0, 0);
  Ring(1, 0);
  Ring(1, 1);
  Ring(1000, 0);
  Ring(200000, 0);
  Ring(200000, 1);
  Line();
  DerivedTypes();
  TwoOfManyAtOnce();
  FreedAtOnce();
  Truncated();
  return Passed();
}
