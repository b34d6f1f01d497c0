/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: sizes, bounds and extents of derived types follow section 5.1 of MPI-5.0, and
 * MPI_Type_get_contents gives back what each constructor was called with.
 */
#include "test/mpi/datatype/expect.h"

struct particle {
  double position[3];
  int id;
  char kind;
};

static void Contents(void) {
  MPI_Datatype type, inner, back[3];
  int integers[16], ni, na, nd, combiner;
  MPI_Aint addresses[4];
  const int lengths[2] = {2, 1};
  const MPI_Aint displacements[2] = {0, 24};
  const int sizes[2] = {6, 8}, subsizes[2] = {2, 3}, starts[2] = {1, 4};
  MPI_Datatype types[2];

  MPI_Type_get_envelope(MPI_INT, &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_NAMED && ni == 0 && na == 0 && nd == 0);

  MPI_Type_vector(4, 2, -3, MPI_SHORT, &inner);
  MPI_Type_get_envelope(inner, &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_VECTOR && ni == 3 && na == 0 && nd == 1);
  MPI_Type_get_contents(inner, 3, 0, 1, integers, addresses, back);
  EXPECT(integers[0] == 4 && integers[1] == 2 && integers[2] == -3 && back[0] == MPI_SHORT);

  types[0] = inner, types[1] = MPI_DOUBLE;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_STRUCT && ni == 3 && na == 2 && nd == 2);
  MPI_Type_free(&inner); /* `type` and its contents keep it alive */
  MPI_Type_get_contents(type, 3, 2, 2, integers, addresses, back);
  EXPECT(integers[0] == 2 && integers[1] == 2 && integers[2] == 1);
  EXPECT(addresses[0] == 0 && addresses[1] == 24 && back[1] == MPI_DOUBLE);
  MPI_Type_get_envelope(back[0], &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_VECTOR);
  MPI_Type_free(&back[0]);
  MPI_Type_free(&type);

  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
  MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_SUBARRAY && ni == 8 && na == 0 && nd == 1);
  MPI_Type_get_contents(type, 8, 0, 1, integers, addresses, back);
  EXPECT(integers[0] == 2 && integers[1] == 6 && integers[2] == 8 && integers[3] == 2 &&
         integers[4] == 3 && integers[5] == 1 && integers[6] == 4 &&
         integers[7] == MPI_ORDER_FORTRAN);
  MPI_Type_dup(type, &inner);
  MPI_Type_get_envelope(inner, &ni, &na, &nd, &combiner);
  EXPECT(combiner == MPI_COMBINER_DUP && ni == 0 && nd == 1);
  MPI_Type_free(&inner);
  MPI_Type_free(&type);

  MPI_Type_create_resized(MPI_INT, -4, 12, &type);
  MPI_Type_get_contents(type, 0, 2, 1, integers, addresses, back);
  EXPECT(addresses[0] == -4 && addresses[1] == 12 && back[0] == MPI_INT);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  MPI_Datatype type, wide, types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  struct particle one;
  int lengths[3] = {3, 1, 1};
  MPI_Aint base, displacements[3];
  const int blocks[2] = {1, 2}, places[2] = {4, 1}, sizes[3] = {4, 5, 6}, subsizes[3] = {2, 2, 3},
            starts[3] = {1, 2, 3};
  int grid[2] = {7, 5}, distribs[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
      args[2] = {2, 3}, processes[2] = {2, 2};

  MPI_Init(&argc, &argv);
  BOUNDS(MPI_INT, 4, 0, 4, 0, 4);
  BOUNDS(MPI_DOUBLE_INT, 12, 0, 16, 0, 12);
  MPI_Type_contiguous(5, MPI_INT, &type);
  BOUNDS(type, 20, 0, 20, 0, 20);
  MPI_Type_free(&type);
  MPI_Type_contiguous(0, MPI_INT, &type);
  BOUNDS(type, 0, 0, 0, 0, 0);
  MPI_Type_free(&type);
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  BOUNDS(type, 24, 0, 48, 0, 48);
  MPI_Type_free(&type);
  MPI_Type_vector(3, 2, -5, MPI_INT, &type);
  BOUNDS(type, 24, -40, 48, -40, 48);
  MPI_Type_create_resized(type, 0, 8, &wide);
  BOUNDS(wide, 24, 0, 8, -40, 48);
  MPI_Type_free(&wide);
  MPI_Type_free(&type);
  MPI_Type_indexed(2, blocks, places, MPI_INT, &type);
  BOUNDS(type, 12, 4, 16, 4, 16);
  MPI_Type_free(&type);
  MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
  BOUNDS(type, 16, 4, 20, 4, 20);
  MPI_Type_free(&type);

  MPI_Get_address(&one, &base);
  MPI_Get_address(&one.position, &displacements[0]);
  MPI_Get_address(&one.id, &displacements[1]);
  MPI_Get_address(&one.kind, &displacements[2]);
  displacements[0] = MPI_Aint_diff(displacements[0], base);
  displacements[1] = MPI_Aint_diff(displacements[1], base);
  displacements[2] = MPI_Aint_diff(displacements[2], base);
  MPI_Type_create_struct(3, lengths, displacements, types, &type);
  BOUNDS(type, 29, 0, (MPI_Aint)sizeof one, 0, 29);
  MPI_Type_free(&type);

  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
  BOUNDS(type, 48, 0, 480, 4 * (1 * 30 + 2 * 6 + 3), 4 * (30 + 6 + 3));
  MPI_Type_free(&type);
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
  BOUNDS(type, 48, 0, 480, 4 * (1 + 2 * 4 + 3 * 20), 4 * (1 + 4 + 2 * 20 + 1));
  MPI_Type_free(&type);

  /* Process 3 of a 2 x 2 grid has rows 2, 3, 6 and columns 3, 4 of 7 x 5. */
  MPI_Type_create_darray(4, 3, 2, grid, distribs, args, processes, MPI_ORDER_C, MPI_INT, &type);
  BOUNDS(type, 4 * 3 * 2, 0, 4 * 35, 4 * (2 * 5 + 3), 4 * (4 * 5 + 2));
  MPI_Type_free(&type);
  EXPECT(type == MPI_DATATYPE_NULL);

  Contents();
  return Passed();
}
