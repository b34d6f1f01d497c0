/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Type_create_f90_integer, _real and _complex give the type the Fortran compiler would
 * choose, the same handle for the same arguments, ready for use and never to be freed, and decode
 * to what they were asked for (MPI-5.0, sections 19.1.9 and 5.1.13).
 */
#include "test/mpi/datatype/expect.h"

static int SizeOf(MPI_Datatype type) {
  int size = -1;
  MPI_Type_size(type, &size);
  return size;
}

static void Decodes(MPI_Datatype type, int combiner, int count, int first, int second) {
  int ni, na, nd, got, integers[2] = {-1, -1};
  MPI_Aint addresses[1];
  MPI_Datatype types[1];
  WORKS(MPI_Type_get_envelope(type, &ni, &na, &nd, &got));
  EXPECT(got == combiner && ni == count && na == 0 && nd == 0);
  WORKS(MPI_Type_get_contents(type, ni, na, nd, integers, addresses, types));
  EXPECT(integers[0] == first && (count == 1 || integers[1] == second));
}

int main(int argc, char** argv) {
  MPI_Datatype type, again, pair;
  int i, sum[2] = {1, 2}, more[2] = {10, 20}, position = 0;
  const int ranges[5] = {2, 4, 9, 18, 19}, sizes[5] = {1, 2, 4, 8, 16};
  char packed[16];

  MPI_Init(&argc, &argv);
  ReturnErrors();
  for (i = 0; i < 5; ++i) {
    if (MPI_Type_create_f90_integer(ranges[i], &type) != MPI_SUCCESS) {
      EXPECT(i == 4); /* 16 bytes are optional */
      continue;
    }
    EXPECT(SizeOf(type) == sizes[i]);
    MPI_Type_create_f90_integer(ranges[i], &again);
    EXPECT(type == again);
    Decodes(type, MPI_COMBINER_F90_INTEGER, 1, ranges[i], 0);
  }
  WORKS(MPI_Type_create_f90_real(6, 37, &type));
  EXPECT(SizeOf(type) == 4);
  WORKS(MPI_Type_create_f90_real(15, 307, &type));
  EXPECT(SizeOf(type) == 8);
  WORKS(MPI_Type_create_f90_real(7, MPI_UNDEFINED, &again));
  EXPECT(SizeOf(again) == 8 && again != type);
  Decodes(again, MPI_COMBINER_F90_REAL, 2, 7, MPI_UNDEFINED);
  WORKS(MPI_Type_create_f90_real(MPI_UNDEFINED, 100, &type));
  EXPECT(SizeOf(type) == 8);
  WORKS(MPI_Type_create_f90_complex(6, 37, &type));
  EXPECT(SizeOf(type) == 8);
  Decodes(type, MPI_COMBINER_F90_COMPLEX, 2, 6, 37);
  WORKS(MPI_Type_create_f90_complex(15, 307, &type));
  EXPECT(SizeOf(type) == 16);
  MPI_Type_create_f90_complex(15, 307, &again);
  EXPECT(type == again);

  /* These types are ready for communication, for reductions and for building others. */
  MPI_Type_create_f90_integer(9, &type);
  WORKS(MPI_Reduce_local(sum, more, 2, type, MPI_SUM));
  EXPECT(more[0] == 11 && more[1] == 22);
  WORKS(MPI_Pack(more, 2, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
  EXPECT(position == 8);
  MPI_Type_contiguous(2, type, &pair);
  EXPECT(SizeOf(pair) == 8);
  {
    int ni, na, nd, combiner, integers[1];
    MPI_Aint addresses[1];
    MPI_Datatype inner[1];
    MPI_Type_get_envelope(pair, &ni, &na, &nd, &combiner);
    MPI_Type_get_contents(pair, ni, na, nd, integers, addresses, inner);
    EXPECT(inner[0] == type);
  }
  MPI_Type_free(&pair);

  again = type;
  FAILS(MPI_ERR_TYPE, MPI_Type_free(&again));
  EXPECT(again == type);
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_integer(1000, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_integer(-1, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_real(1000, MPI_UNDEFINED, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_complex(6, 100000, &type));
  FAILS(MPI_ERR_ARG, MPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &type));
  return Passed();
}
