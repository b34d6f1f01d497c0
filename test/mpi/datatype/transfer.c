/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: data of any layout arrives in any other layout of the same signature, for messages short
 * and long, and MPI_Get_count and MPI_Get_elements tell how much came (MPI-5.0, sections 5.1
 * and 3.2.5). Every rank sends to the next, itself included when it is alone.
 */
#include <stddef.h>
#include <stdlib.h>

#include "test/mpi/check.h"

static int rank, size;

/* Columns of a matrix leave, rows arrive. */
static void Transpose(int n) {
  MPI_Datatype column, columns;
  double* from = malloc(sizeof(double) * n * n);
  double* to = malloc(sizeof(double) * n * n);
  MPI_Status status;
  int i, j, count, wrong = 0;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  for (i = 0; i < n * n; ++i) from[i] = rank * 1e7 + i, to[i] = -1;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &columns);
  MPI_Type_commit(&columns);
  MPI_Type_free(&column);
  MPI_Sendrecv(from, n, columns, next, 1, to, n * n, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD,
               &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  EXPECT(count == n * n);
  MPI_Get_count(&status, columns, &count);
  EXPECT(count == n);
  for (i = 0; i < n; ++i)
    for (j = 0; j < n; ++j) wrong += to[i * n + j] != previous * 1e7 + j * n + i;
  EXPECT(wrong == 0);

  /* On the way back rows leave and columns arrive, without blocking. */
  {
    MPI_Request requests[2];
    double* again = malloc(sizeof(double) * n * n);
    for (i = 0; i < n * n; ++i) again[i] = -1;
    MPI_Irecv(again, n, columns, next, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(to, n * n, MPI_DOUBLE, previous, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (i = 0, wrong = 0; i < n * n; ++i) wrong += again[i] != from[i];
    EXPECT(wrong == 0);
    free(again);
  }
  MPI_Type_free(&columns);
  free(from);
  free(to);
}

/* Structs have holes, and those of the receiver are not touched. */
static void Structs(int n) {
  struct cell {
    char tag;
    double value;
    short number;
  };
  struct cell* from = malloc(sizeof(struct cell) * n);
  struct cell* to = malloc(sizeof(struct cell) * n);
  const int lengths[3] = {1, 1, 1};
  const MPI_Aint places[3] = {offsetof(struct cell, tag), offsetof(struct cell, value),
                              offsetof(struct cell, number)};
  const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
  MPI_Datatype type;
  MPI_Status status;
  int i, wrong = 0, count;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  memset(to, 0x77, sizeof(struct cell) * n);
  memset(from, 0x11, sizeof(struct cell) * n);
  for (i = 0; i < n; ++i)
    from[i].tag = (char)i, from[i].value = rank + i / 8.0, from[i].number = (short)(i * 3);
  MPI_Type_create_struct(3, lengths, places, types, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(from, n, type, next, 3, to, n, type, previous, 3, MPI_COMM_WORLD, &status);
  for (i = 0; i < n; ++i) {
    wrong +=
        to[i].tag != (char)i || to[i].value != previous + i / 8.0 || to[i].number != (short)(i * 3);
    wrong += ((char*)&to[i])[1] != 0x77;
  }
  EXPECT(wrong == 0);
  MPI_Get_count(&status, type, &count);
  EXPECT(count == n);
  MPI_Get_elements(&status, type, &count);
  EXPECT(count == 3 * n);
  MPI_Type_free(&type);
  free(from);
  free(to);
}

/* Less arrives than was asked for: whole elements, and elements that are cut in the middle. */
static void Partial(void) {
  MPI_Datatype pair;
  int data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, into[8] = {0}, count;
  MPI_Status status;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Sendrecv(data, 3, MPI_INT, next, 4, into, 4, pair, previous, 4, MPI_COMM_WORLD, &status);
  EXPECT(into[0] == 1 && into[2] == 3 && into[3] == 0);
  MPI_Get_count(&status, pair, &count);
  EXPECT(count == MPI_UNDEFINED);
  MPI_Get_elements(&status, pair, &count);
  EXPECT(count == 3);
  MPI_Sendrecv(data, 0, MPI_INT, next, 4, into, 4, pair, previous, 4, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, pair, &count);
  EXPECT(count == 0);
  MPI_Type_free(&pair);
}

/* Absolute addresses go with MPI_BOTTOM. */
static void Absolute(void) {
  int first = 10 + rank, second = 20 + rank, into[2] = {0, 0};
  MPI_Aint places[2];
  const int lengths[2] = {1, 1};
  MPI_Datatype type;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;

  MPI_Get_address(&first, &places[0]);
  MPI_Get_address(&second, &places[1]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(MPI_BOTTOM, 1, type, next, 5, into, 2, MPI_INT, previous, 5, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT(into[0] == 10 + previous && into[1] == 20 + previous);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Transpose(1);
  Transpose(3);
  Transpose(30);
  Transpose(300);
  Structs(1);
  Structs(50);
  Structs(50000);
  Partial();
  Absolute();
  return Passed();
}
