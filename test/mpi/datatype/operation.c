/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: predefined operations reduce what they may, operations of the application are called with
 * the lower rank's data first, and MPI_Op_commutative tells (MPI-5.0, section 6.9).
 */
#include "test/mpi/check.h"

/* Products of 2 x 2 matrices do not commute, so the order shows. */
static void Multiply(void* in, void* inout, int* length, MPI_Datatype* type) {
  int i;
  (void)type;
  for (i = 0; i < *length; ++i) {
    const long* a = (const long*)in + 4 * i;
    long* b = (long*)inout + 4 * i;
    const long c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                       a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

int main(int argc, char** argv) {
  MPI_Op op;
  MPI_Datatype matrix;
  int rank, size, i, flag;
  long mine[4], product[4], expected[4] = {1, 0, 0, 1};
  struct {
    double value;
    int where;
  } place, best;
  int a[3] = {1, 5, -2}, b[3] = {4, 2, -9};

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  MPI_Reduce_local(a, b, 3, MPI_INT, MPI_MAX);
  EXPECT(b[0] == 4 && b[1] == 5 && b[2] == -2);
  MPI_Op_commutative(MPI_SUM, &flag);
  EXPECT(flag);

  MPI_Op_create(Multiply, 0, &op);
  MPI_Op_commutative(op, &flag);
  EXPECT(!flag);
  MPI_Type_contiguous(4, MPI_LONG, &matrix);
  MPI_Type_commit(&matrix);
  mine[0] = 1, mine[1] = rank + 1, mine[2] = rank % 2, mine[3] = 1;
  MPI_Allreduce(mine, product, 1, matrix, op, MPI_COMM_WORLD);
  for (i = size; i-- > 0;) {
    int one = 1;
    long factor[4];
    factor[0] = 1, factor[1] = i + 1, factor[2] = i % 2, factor[3] = 1;
    Multiply(factor, expected, &one, &matrix);
  }
  EXPECT(memcmp(product, expected, sizeof product) == 0);
  MPI_Type_free(&matrix);
  MPI_Op_free(&op);
  EXPECT(op == MPI_OP_NULL);

  place.value = rank % 2 == 0 ? 3.0 : 7.0;
  place.where = rank;
  MPI_Allreduce(&place, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  EXPECT(size == 1 ? best.where == 0 : best.value == 7.0 && best.where == 1);
  return Passed();
}
