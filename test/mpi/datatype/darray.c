/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Type_create_darray deals an array out as section 5.1.4 of MPI-5.0 says, in all
 * distributions, both orders and every number of processes: every element goes to the process that
 * the definition names, in the order of the array.
 */
#include "test/mpi/datatype/expect.h"

enum { kRows = 7, kColumns = 5, kCells = kRows * kColumns };

/* Returns the coordinate of the process that has element `i` of a dimension. */
static int Owner(int i, int size, int kind, int argument, int processes) {
  if (kind == MPI_DISTRIBUTE_NONE) return 0;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    argument = kind == MPI_DISTRIBUTE_BLOCK ? (size + processes - 1) / processes : 1;
  return i / argument % processes;
}

static void Deal(int order, const int* kinds, const int* arguments, const int* grid) {
  const int sizes[2] = {kRows, kColumns};
  const int all = grid[0] * grid[1];
  int rank, i, memory[kCells], packed[kCells];
  for (i = 0; i < kCells; ++i) memory[i] = i;
  for (rank = 0; rank < all; ++rank) {
    MPI_Datatype type;
    MPI_Aint lower, extent;
    int position = 0, expected = 0, wrong = 0, slow, fast;
    MPI_Type_create_darray(all, rank, 2, sizes, kinds, arguments, grid, order, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Pack(memory, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
    /* This follows the order of memory: the last dimension is the fast one in C, the first in
     * Fortran. */
    for (slow = 0; slow < sizes[order == MPI_ORDER_C ? 0 : 1]; ++slow)
      for (fast = 0; fast < sizes[order == MPI_ORDER_C ? 1 : 0]; ++fast) {
        const int row = order == MPI_ORDER_C ? slow : fast,
                  column = order == MPI_ORDER_C ? fast : slow;
        if (Owner(row, kRows, kinds[0], arguments[0], grid[0]) != rank / grid[1] ||
            Owner(column, kColumns, kinds[1], arguments[1], grid[1]) != rank % grid[1])
          continue;
        wrong += packed[expected++] !=
                 (order == MPI_ORDER_C ? row * kColumns + column : column * kRows + row);
      }
    EXPECT(wrong == 0);
    EXPECT(position == 4 * expected);
    EXPECT(lower == 0 && extent == 4 * kCells);
    MPI_Type_free(&type);
  }
}

int main(int argc, char** argv) {
  const int kinds[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  int first, second, argument, p, q;
  MPI_Init(&argc, &argv);
  for (first = 0; first < 3; ++first)
    for (second = 0; second < 3; ++second)
      for (p = 1; p <= 4; ++p)
        for (q = 1; q <= 3; ++q)
          for (argument = 0; argument <= 8; ++argument) {
            int kind[2], arguments[2], grid[2];
            kind[0] = kinds[first], kind[1] = kinds[second];
            arguments[0] = arguments[1] = argument == 0 ? MPI_DISTRIBUTE_DFLT_DARG : argument;
            grid[0] = p, grid[1] = q;
            if (kind[0] == MPI_DISTRIBUTE_NONE && p > 1) continue;
            if (kind[1] == MPI_DISTRIBUTE_NONE && q > 1) continue;
            if (argument > 0 && kind[0] == MPI_DISTRIBUTE_BLOCK && argument * p < kRows) continue;
            if (argument > 0 && kind[1] == MPI_DISTRIBUTE_BLOCK && argument * q < kColumns)
              continue;
            Deal(MPI_ORDER_C, kind, arguments, grid);
            Deal(MPI_ORDER_FORTRAN, kind, arguments, grid);
          }
  return Passed();
}
