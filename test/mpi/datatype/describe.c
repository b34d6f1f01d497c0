/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: what a datatype says about itself: size, extent, true extent in all forms, its name, its
 * envelope, whether it may be freed; and what must fail (MPI-5.0, sections 5.1.5 to 5.1.13, 7.8 and
 * 19.1.9).
 */
#include <stdlib.h>

#include "test/mpi/datatype/expect.h"

static void Sizes(void) {
  MPI_Datatype type;
  MPI_Aint lower, extent;
  MPI_Count lower_x, extent_x, size_x;
  int size;

  MPI_Type_vector(2, 1, -4, MPI_INT, &type);
  WORKS(MPI_Type_size(type, &size));
  WORKS(MPI_Type_size_x(type, &size_x));
  EXPECT(size == 8 && size_x == 8);
  WORKS(MPI_Type_get_extent(type, &lower, &extent));
  WORKS(MPI_Type_get_extent_x(type, &lower_x, &extent_x));
  EXPECT(lower == -16 && extent == 20 && lower_x == -16 && extent_x == 20);
  WORKS(MPI_Type_get_true_extent(type, &lower, &extent));
  WORKS(MPI_Type_get_true_extent_x(type, &lower_x, &extent_x));
  EXPECT(lower == -16 && extent == 20 && lower_x == -16 && extent_x == 20);
#if MPI_VERSION >= 4
  WORKS(MPI_Type_size_c(type, &size_x));
  EXPECT(size_x == 8);
  WORKS(MPI_Type_get_extent_c(type, &lower_x, &extent_x));
  EXPECT(lower_x == -16 && extent_x == 20);
  WORKS(MPI_Type_get_true_extent_c(type, &lower_x, &extent_x));
  EXPECT(lower_x == -16 && extent_x == 20);
  FAILS(MPI_ERR_TYPE, MPI_Type_size_c(MPI_DATATYPE_NULL, &size_x));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_extent_c(MPI_DATATYPE_NULL, &lower_x, &extent_x));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_true_extent_c(MPI_DATATYPE_NULL, &lower_x, &extent_x));
#endif
  FAILS(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &size));
  FAILS(MPI_ERR_TYPE, MPI_Type_size_x(MPI_DATATYPE_NULL, &size_x));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_extent(MPI_DATATYPE_NULL, &lower, &extent));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_extent_x(MPI_DATATYPE_NULL, &lower_x, &extent_x));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_true_extent(MPI_DATATYPE_NULL, &lower, &extent));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_true_extent_x(MPI_DATATYPE_NULL, &lower_x, &extent_x));
  MPI_Type_free(&type);

  /* A part with an empty type map has no bounds (section 5.1). */
  {
    MPI_Datatype empty, types[2];
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {100, 0};
    MPI_Type_contiguous(0, MPI_INT, &empty);
    types[0] = empty, types[1] = MPI_INT;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    BOUNDS(type, 4, 0, 4, 0, 4);
    MPI_Type_free(&empty);
    MPI_Type_free(&type);
  }
}

static void Names(void) {
  MPI_Datatype type, copy;
  char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
  int length;

  WORKS(MPI_Type_get_name(MPI_DOUBLE, name, &length));
  EXPECT(strcmp(name, "MPI_DOUBLE") == 0 && length == 10);
  /* Table 3.2: of two names of one type the name is the one that the other is a synonym of. */
  WORKS(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
  EXPECT(strcmp(name, "MPI_C_COMPLEX") == 0 && length == 13);
  WORKS(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
  EXPECT(strcmp(name, "MPI_LONG_LONG_INT") == 0);
  MPI_Type_contiguous(2, MPI_INT, &type);
  WORKS(MPI_Type_get_name(type, name, &length));
  EXPECT(name[0] == '\0' && length == 0);
  WORKS(MPI_Type_set_name(type, "pair of ints"));
  WORKS(MPI_Type_get_name(type, name, &length));
  EXPECT(strcmp(name, "pair of ints") == 0 && length == 12);
  MPI_Type_dup(type, &copy);
  MPI_Type_get_name(copy, name, &length);
  EXPECT(length == 0); /* a name stays with its object */
  MPI_Type_free(&copy);
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = '\0';
  MPI_Type_set_name(type, longer);
  MPI_Type_get_name(type, name, &length);
  EXPECT(length == MPI_MAX_OBJECT_NAME - 1 && name[length] == '\0' && name[0] == 'x');
  MPI_Type_free(&type);
  FAILS(MPI_ERR_TYPE, MPI_Type_set_name(MPI_DATATYPE_NULL, "nothing"));
}

static void Life(void) {
  MPI_Datatype type, copy, predefined = MPI_INT, nothing = MPI_DATATYPE_NULL;
  int memory[4] = {1, 2, 3, 4}, packed[4], position = 0;

  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  FAILS(MPI_ERR_TYPE, MPI_Pack(memory, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
  FAILS(MPI_ERR_TYPE, MPI_Send(memory, 1, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  MPI_Type_dup(type, &copy); /* not committed either */
  FAILS(MPI_ERR_TYPE, MPI_Pack(memory, 1, copy, packed, sizeof packed, &position, MPI_COMM_WORLD));
  MPI_Type_free(&copy);
  WORKS(MPI_Type_commit(&type));
  WORKS(MPI_Type_commit(&type)); /* again is nothing */
  WORKS(MPI_Type_commit(&predefined));
  MPI_Type_dup(type, &copy);
  WORKS(MPI_Pack(memory, 1, copy, packed, sizeof packed, &position, MPI_COMM_WORLD));
  EXPECT(position == 8 && packed[0] == 1 && packed[1] == 3);
  WORKS(MPI_Type_free(&copy));
  EXPECT(copy == MPI_DATATYPE_NULL);
  MPI_Type_free(&type);
  FAILS(MPI_ERR_TYPE, MPI_Type_commit(&nothing));
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&nothing));
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&predefined));
  EXPECT(predefined == MPI_INT);
}

static void Addresses(void) {
  int numbers[4] = {0};
  MPI_Aint first, third;
  WORKS(MPI_Get_address(&numbers[0], &first));
  WORKS(MPI_Get_address(&numbers[2], &third));
  EXPECT(MPI_Aint_diff(third, first) == 8);
  EXPECT(MPI_Aint_add(first, 8) == third);
  EXPECT(MPI_Aint_diff(first, third) == -8);
  WORKS(MPI_Get_address(MPI_BOTTOM, &first));
  EXPECT(first == 0);
}

static void Envelopes(void) {
  MPI_Datatype type, types[2];
  int integers[4], ni, na, nd, combiner;
  MPI_Aint addresses[2];
  MPI_Type_vector(2, 3, 4, MPI_INT, &type);
  FAILS(MPI_ERR_TYPE, MPI_Type_get_envelope(MPI_DATATYPE_NULL, &ni, &na, &nd, &combiner));
  FAILS(MPI_ERR_TYPE,
        MPI_Type_get_contents(MPI_DATATYPE_NULL, 3, 0, 1, integers, addresses, types));
  /* A named type has no contents, and arrays that are too short for the contents are an error. */
  FAILS(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_INT, 0, 0, 0, integers, addresses, types));
  FAILS(MPI_ERR_ARG, MPI_Type_get_contents(type, 2, 0, 1, integers, addresses, types));
  FAILS(MPI_ERR_ARG, MPI_Type_get_contents(type, 3, 0, 0, integers, addresses, types));
  MPI_Type_free(&type);
}

static void Matching(void) {
  MPI_Datatype type;
  int size;
  WORKS(MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(float), &type));
  MPI_Type_size(type, &size);
  EXPECT(size == sizeof(float));
  WORKS(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, &type));
  MPI_Type_size(type, &size);
  EXPECT(size == 8);
  WORKS(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &type));
  MPI_Type_size(type, &size);
  EXPECT(size == 16);
  FAILS(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 7, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_match_size(-5, 8, &type));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReturnErrors();
  Sizes();
  Names();
  Life();
  Addresses();
  Envelopes();
  Matching();
  return Passed();
}
