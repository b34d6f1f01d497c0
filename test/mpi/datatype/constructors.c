/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: every datatype constructor, in its int and its _c form, makes the type map that section 5.1
 * of MPI-5.0 gives it, with negative strides, displacements and empty blocks, and refuses what it
 * must not accept.
 * A type is held against its type map: packing a buffer of consecutive ints shows the order.
 */
#include "test/mpi/datatype/expect.h"

#define N 64

/* Checks that packing one element at memory[at] gives the ints at these distances from it. */
static void Holds(MPI_Datatype type, int at, int count, const int* distances, int line) {
  int memory[N], packed[N], position = 0, i, wrong = 0;
  for (i = 0; i < N; ++i) memory[i] = i, packed[i] = -1;
  MPI_Type_commit(&type);
  MPI_Pack(memory + at, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  for (i = 0; i < count; ++i) wrong += packed[i] != at + distances[i];
  if (wrong == 0 && position == 4 * count) return;
  ++failures;
  fprintf(stderr, "line %d: %d bytes packed, %d ints are wrong\n", line, position, wrong);
}
/* This is a macro so that a list in braces can be passed. It frees the type. */
#define HOLDS(type, at, ...)                                                     \
  do {                                                                           \
    const int distances[] = {__VA_ARGS__};                                       \
    Holds(type, at, (int)(sizeof distances / sizeof(int)), distances, __LINE__); \
    MPI_Type_free(&type);                                                        \
  } while (0)

static void Integers(void) {
  MPI_Datatype type, gap, types[3];
  const int lengths[3] = {2, 0, 1}, places[3] = {3, 9, -2};
  const MPI_Aint bytes[3] = {12, 36, -8};
  const int sizes[2] = {4, 5}, subsizes[2] = {2, 2}, starts[2] = {1, 3};

  WORKS(MPI_Type_contiguous(3, MPI_INT, &type));
  HOLDS(type, 5, 0, 1, 2);
  WORKS(MPI_Type_vector(2, 2, -3, MPI_INT, &type));
  BOUNDS(type, 16, -12, 20, -12, 20);
  HOLDS(type, 9, 0, 1, -3, -2);
  WORKS(MPI_Type_create_hvector(3, 1, 8, MPI_INT, &type));
  BOUNDS(type, 12, 0, 20, 0, 20);
  HOLDS(type, 0, 0, 2, 4);
  WORKS(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
  BOUNDS(type, 12, -8, 28, -8, 28);
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, 9, 10, -2, -1);
  WORKS(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, 9, 10, -2, -1);
  WORKS(MPI_Type_create_resized(MPI_INT, -4, 12, &gap));
  BOUNDS(gap, 4, -4, 12, 0, 4);
  types[0] = types[1] = MPI_INT, types[2] = gap;
  WORKS(MPI_Type_create_struct(3, lengths, bytes, types, &type));
  /* The bounds of the resized part hide all others. */
  BOUNDS(type, 12, -12, 12, -8, 28);
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_contiguous(2, gap, &type));
  BOUNDS(type, 8, -4, 24, 0, 16);
  HOLDS(type, 1, 0, 3);
  MPI_Type_free(&gap);
  WORKS(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
  BOUNDS(type, 16, 0, 80, 32, 28);
  HOLDS(type, 0, 8, 9, 13, 14);
  WORKS(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_INT, &type));
  HOLDS(type, 0, 13, 14, 17, 18);
  WORKS(MPI_Type_contiguous(2, MPI_INT, &gap));
  WORKS(MPI_Type_dup(gap, &type));
  MPI_Type_free(&gap);
  HOLDS(type, 4, 0, 1);
}

#if MPI_VERSION >= 4
static void Counts(void) {
  MPI_Datatype type, types[3] = {MPI_INT, MPI_INT, MPI_INT};
  const MPI_Count lengths[3] = {2, 0, 1}, places[3] = {3, 9, -2}, bytes[3] = {12, 36, -8};
  const MPI_Count sizes[2] = {4, 5}, subsizes[2] = {2, 2}, starts[2] = {1, 3};
  const int kinds[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
            arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 2};

  WORKS(MPI_Type_contiguous_c(3, MPI_INT, &type));
  HOLDS(type, 5, 0, 1, 2);
  WORKS(MPI_Type_vector_c(2, 2, -3, MPI_INT, &type));
  HOLDS(type, 9, 0, 1, -3, -2);
  WORKS(MPI_Type_create_hvector_c(3, 1, 8, MPI_INT, &type));
  HOLDS(type, 0, 0, 2, 4);
  WORKS(MPI_Type_indexed_c(3, lengths, places, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_create_hindexed_c(3, lengths, bytes, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_create_indexed_block_c(3, 2, places, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, 9, 10, -2, -1);
  WORKS(MPI_Type_create_hindexed_block_c(3, 2, bytes, MPI_INT, &type));
  HOLDS(type, 10, 3, 4, 9, 10, -2, -1);
  WORKS(MPI_Type_create_struct_c(3, lengths, bytes, types, &type));
  HOLDS(type, 10, 3, 4, -2);
  WORKS(MPI_Type_create_resized_c(MPI_INT, -4, 12, &type));
  BOUNDS(type, 4, -4, 12, 0, 4);
  HOLDS(type, 3, 0);
  WORKS(MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type));
  HOLDS(type, 0, 8, 9, 13, 14);
  /* Rank 1 of 2 x 2: rows 0 and 1, columns 2 and 3 of 5 in blocks of two. */
  WORKS(MPI_Type_create_darray_c(4, 1, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT,
                                 &type));
  HOLDS(type, 0, 2, 3, 7, 8);
}
#endif

static void Errors(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL, none[1] = {MPI_DATATYPE_NULL}, ints[1] = {MPI_INT};
  const int lengths[1] = {1}, negative[1] = {-1}, places[1] = {0};
  const MPI_Aint bytes[1] = {0};
  const int four[1] = {4}, zero[1] = {0}, five[1] = {5}, one[1] = {1}, two[1] = {2};
  const int block[1] = {MPI_DISTRIBUTE_BLOCK}, undivided[1] = {MPI_DISTRIBUTE_NONE},
            unknown[1] = {-77}, usual[1] = {MPI_DISTRIBUTE_DFLT_DARG};

  FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_hvector(1, 1, 1, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_indexed(1, lengths, places, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_indexed(-1, lengths, places, MPI_INT, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_indexed(1, negative, places, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed(1, lengths, bytes, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_hindexed(1, negative, bytes, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_indexed_block(1, 1, places, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_indexed_block(1, -1, places, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed_block(1, 1, bytes, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_create_hindexed_block(-1, 1, bytes, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_struct(1, lengths, bytes, none, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_create_struct(-1, lengths, bytes, ints, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_struct(1, negative, bytes, ints, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_dup(MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_TYPE,
        MPI_Type_create_subarray(1, four, one, zero, MPI_ORDER_C, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(0, four, one, zero, MPI_ORDER_C, MPI_INT, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, four, five, zero, MPI_ORDER_C, MPI_INT, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, four, one, four, MPI_ORDER_C, MPI_INT, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, four, one, zero, 99, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_darray(1, 0, 1, four, block, usual, one, MPI_ORDER_C,
                                             MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_ARG,
        MPI_Type_create_darray(1, 0, 1, four, unknown, usual, one, MPI_ORDER_C, MPI_INT, &type));
  /* Two blocks of one do not hold four elements; an undivided dimension has one process. */
  FAILS(MPI_ERR_ARG,
        MPI_Type_create_darray(2, 0, 1, four, block, one, two, MPI_ORDER_C, MPI_INT, &type));
  FAILS(MPI_ERR_ARG,
        MPI_Type_create_darray(2, 0, 1, four, undivided, usual, two, MPI_ORDER_C, MPI_INT, &type));
  EXPECT(type == MPI_DATATYPE_NULL);
}

#if MPI_VERSION >= 4
static void CountErrors(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL, none[1] = {MPI_DATATYPE_NULL};
  const MPI_Count lengths[1] = {1}, negative[1] = {-1}, places[1] = {0}, four[1] = {4},
                  five[1] = {5};
  const int block[1] = {MPI_DISTRIBUTE_BLOCK}, usual[1] = {MPI_DISTRIBUTE_DFLT_DARG}, one[1] = {1};

  FAILS(MPI_ERR_COUNT, MPI_Type_contiguous_c(-1, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_vector_c(1, 1, 1, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_create_hvector_c(-1, 1, 1, MPI_INT, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_indexed_c(1, negative, places, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed_c(1, lengths, places, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_indexed_block_c(1, 1, places, MPI_DATATYPE_NULL, &type));
  FAILS(MPI_ERR_COUNT, MPI_Type_create_hindexed_block_c(-1, 1, places, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_struct_c(1, lengths, places, none, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_resized_c(MPI_DATATYPE_NULL, 0, 4, &type));
  FAILS(MPI_ERR_ARG,
        MPI_Type_create_subarray_c(1, four, five, places, MPI_ORDER_C, MPI_INT, &type));
  FAILS(MPI_ERR_TYPE, MPI_Type_create_darray_c(1, 0, 1, four, block, usual, one, MPI_ORDER_C,
                                               MPI_DATATYPE_NULL, &type));
  EXPECT(type == MPI_DATATYPE_NULL);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReturnErrors();
  Integers();
  Errors();
#if MPI_VERSION >= 4
  Counts();
  CountErrors();
#endif
  return Passed();
}
