/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: sizes and bounds above 2^31 and 2^32: MPI_UNDEFINED where an int cannot say it, the value
 * everywhere else; what does not fit into 64 bits is refused; a type made with large counts is
 * decoded by the _c functions alone (MPI-5.0, sections 5.1.5 and 5.1.13).
 */
#include "test/mpi/datatype/expect.h"

/* Checks what MPI_Type_get_envelope_c and MPI_Type_get_contents_c say. */
static void Decodes(MPI_Datatype type, int combiner, int integers, int counts, MPI_Count first,
                    MPI_Count last, int line) {
  MPI_Count ni, na, nc, nd, large[16] = {0};
  int got, small[16], a, b, c;
  MPI_Aint addresses[1];
  MPI_Datatype types[1];
  MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &got);
  if (got != combiner || ni != integers || na != 0 || nc != counts || nd != 1) {
    ++failures;
    fprintf(stderr, "line %d: %ld integers, %ld addresses, %ld counts, %ld types\n", line, (long)ni,
            (long)na, (long)nc, (long)nd);
  }
  MPI_Type_get_contents_c(type, ni, na, nc, nd, small, addresses, large, types);
  if (large[0] != first || large[counts - 1] != last || types[0] != MPI_SHORT) {
    ++failures;
    fprintf(stderr, "line %d: counts %ld ... %ld\n", line, (long)large[0], (long)large[counts - 1]);
  }
  ExpectClass(MPI_Type_get_envelope(type, &a, &b, &c, &got), MPI_ERR_TYPE, line, "get_envelope");
  ExpectClass(MPI_Type_get_contents(type, 16, 0, 1, small, addresses, types), MPI_ERR_TYPE, line,
              "get_contents");
  ExpectClass(MPI_Type_get_contents_c(type, ni, na, nc - 1, nd, small, addresses, large, types),
              MPI_ERR_ARG, line, "get_contents_c");
  MPI_Type_free(&type);
}
#define DECODES(type, combiner, integers, counts, first, last) \
  Decodes(type, combiner, integers, counts, first, last, __LINE__)

static void Contents(void) {
  const MPI_Count big = (MPI_Count)1 << 33;
  MPI_Count lengths[1], places[1], sizes[2], ones[2] = {1, 1}, zeros[2] = {0, 0}, ni, na, nc, nd;
  const MPI_Datatype shorts[1] = {MPI_SHORT};
  const int block[1] = {MPI_DISTRIBUTE_BLOCK}, usual[1] = {MPI_DISTRIBUTE_DFLT_DARG}, one[1] = {1};
  int combiner, small[4];
  MPI_Datatype type, copy, types[1];
  MPI_Aint addresses[1];
  MPI_Count large[1];

  lengths[0] = big, places[0] = -big, sizes[0] = sizes[1] = big / 1024;
  MPI_Type_contiguous_c(big, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_CONTIGUOUS, 0, 1, big, big);
  MPI_Type_vector_c(3, 1, big, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_VECTOR, 0, 3, 3, big);
  MPI_Type_create_hvector_c(3, 1, big, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_HVECTOR, 0, 3, 3, big);
  MPI_Type_indexed_c(1, lengths, places, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_INDEXED, 0, 3, 1, -big);
  MPI_Type_create_hindexed_c(1, lengths, places, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_HINDEXED, 0, 3, 1, -big);
  MPI_Type_create_indexed_block_c(1, big, places, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_INDEXED_BLOCK, 0, 3, 1, -big);
  MPI_Type_create_hindexed_block_c(1, big, places, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_HINDEXED_BLOCK, 0, 3, 1, -big);
  MPI_Type_create_struct_c(1, lengths, places, shorts, &type);
  DECODES(type, MPI_COMBINER_STRUCT, 0, 3, 1, -big);
  MPI_Type_create_resized_c(MPI_SHORT, -big, 3 * big, &type);
  DECODES(type, MPI_COMBINER_RESIZED, 0, 2, -big, 3 * big);
  MPI_Type_create_subarray_c(2, sizes, ones, zeros, MPI_ORDER_C, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_SUBARRAY, 2, 6, big / 1024, 0);
  MPI_Type_create_darray_c(1, 0, 1, lengths, block, usual, one, MPI_ORDER_C, MPI_SHORT, &type);
  DECODES(type, MPI_COMBINER_DARRAY, 7, 1, big, big);

  /* The _c functions decode the others as well. */
  MPI_Type_contiguous(7, MPI_SHORT, &type);
  WORKS(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
  EXPECT(ni == 1 && na == 0 && nc == 0 && nd == 1 && combiner == MPI_COMBINER_CONTIGUOUS);
  WORKS(MPI_Type_get_contents_c(type, 1, 0, 0, 1, small, addresses, large, types));
  EXPECT(small[0] == 7 && types[0] == MPI_SHORT);
  MPI_Type_free(&type);
  /* A duplicate has no counts of its own. */
  MPI_Type_contiguous_c(big, MPI_SHORT, &type);
  MPI_Type_dup(type, &copy);
  WORKS(MPI_Type_get_envelope(copy, small, small + 1, small + 2, &combiner));
  EXPECT(combiner == MPI_COMBINER_DUP);
  MPI_Type_free(&copy);
  MPI_Type_free(&type);
  FAILS(MPI_ERR_TYPE, MPI_Type_get_envelope_c(MPI_DATATYPE_NULL, &ni, &na, &nc, &nd, &combiner));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_contents_c(MPI_INT, 0, 0, 0, 0, small, addresses, large, types));
}

static void Sizes(void) {
  const MPI_Count big = (MPI_Count)1 << 32;
  MPI_Datatype type, irregular;
  MPI_Count size, lower, extent;
  MPI_Aint first, distance;
  int small;

  MPI_Type_contiguous_c(big, MPI_INT, &type);
  WORKS(MPI_Type_commit(&type));
  WORKS(MPI_Type_size(type, &small));
  EXPECT(small == MPI_UNDEFINED);
  WORKS(MPI_Type_size_c(type, &size));
  EXPECT(size == 4 * big);
  WORKS(MPI_Type_size_x(type, &size));
  EXPECT(size == 4 * big);
  WORKS(MPI_Type_get_extent_x(type, &lower, &extent));
  EXPECT(lower == 0 && extent == 4 * big);
  WORKS(MPI_Type_get_true_extent(type, &first, &distance));
  EXPECT(first == 0 && distance == 4 * big);
  MPI_Pack_size(1, type, MPI_COMM_WORLD, &small);
  EXPECT(small == MPI_UNDEFINED);
  MPI_Pack_size_c(1, type, MPI_COMM_WORLD, &size);
  EXPECT(size >= 4 * big);
  MPI_Type_free(&type);
  /* Committing a type takes no memory for each of its 2^33 holes. */
  MPI_Type_contiguous_c(2 * big, MPI_SHORT_INT, &irregular);
  WORKS(MPI_Type_commit(&irregular));
  MPI_Type_size_c(irregular, &size);
  EXPECT(size == 12 * big);
  MPI_Type_free(&irregular);

  type = MPI_DATATYPE_NULL;
  FAILS(MPI_ERR_VALUE_TOO_LARGE, MPI_Type_contiguous_c((MPI_Count)1 << 61, MPI_DOUBLE, &type));
  FAILS(MPI_ERR_VALUE_TOO_LARGE, MPI_Type_vector_c(2, 1, (MPI_Count)1 << 61, MPI_DOUBLE, &type));
  EXPECT(type == MPI_DATATYPE_NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReturnErrors();
  Contents();
  Sizes();
  return Passed();
}
