/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Type_get_value_index gives the named pair of two types where there is one, an unnamed
 * one for other integer indices, which MPI_MINLOC and MPI_MAXLOC take, and MPI_DATATYPE_NULL for
 * what is no pair (MPI-5.0, section 6.9.4).
 */
#include <stddef.h>
#include <stdint.h>

#include "test/mpi/datatype/expect.h"

int main(int argc, char** argv) {
  const MPI_Datatype named[][3] = {
      {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      {MPI_LONG, MPI_INT, MPI_LONG_INT},   {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
      {MPI_INT, MPI_INT, MPI_2INT},        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT}};
  struct place {
    float value;
    int64_t where;
  } mine, lowest, highest;
  MPI_Datatype pair, again, types[2];
  int rank, size, ni, na, nd, combiner, integers[1];
  MPI_Aint addresses[1];
  size_t i;

  MPI_Init(&argc, &argv);
  ReturnErrors();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < sizeof named / sizeof named[0]; ++i) {
    WORKS(MPI_Type_get_value_index(named[i][0], named[i][1], &pair));
    EXPECT(pair == named[i][2]);
  }
  WORKS(MPI_Type_get_value_index(MPI_FLOAT, MPI_FLOAT, &pair));
  EXPECT(pair == MPI_DATATYPE_NULL);
  WORKS(MPI_Type_get_value_index(MPI_CHAR, MPI_INT, &pair));
  EXPECT(pair == MPI_DATATYPE_NULL);

  WORKS(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT64_T, &pair));
  EXPECT(pair != MPI_DATATYPE_NULL);
  MPI_Type_get_value_index(MPI_FLOAT, MPI_INT64_T, &again);
  EXPECT(pair == again);
  BOUNDS(pair, 12, 0, (long long)sizeof mine, 0, (long long)sizeof mine);
  WORKS(MPI_Type_get_envelope(pair, &ni, &na, &nd, &combiner));
  EXPECT(combiner == MPI_COMBINER_VALUE_INDEX && ni == 0 && na == 0 && nd == 2);
  WORKS(MPI_Type_get_contents(pair, ni, na, nd, integers, addresses, types));
  EXPECT(types[0] == MPI_FLOAT && types[1] == MPI_INT64_T);
  mine.value = (float)(rank % 2);
  mine.where = ((int64_t)1 << 40) + rank;
  MPI_Allreduce(&mine, &lowest, 1, pair, MPI_MINLOC, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &highest, 1, pair, MPI_MAXLOC, MPI_COMM_WORLD);
  EXPECT(lowest.value == 0 && lowest.where == (int64_t)1 << 40);
  EXPECT(highest.where == ((int64_t)1 << 40) + (size > 1));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(&mine, &lowest, 1, pair, MPI_SUM));
  again = pair;
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&again));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &pair));
  return Passed();
}
