/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: the _c forms of MPI_Pack, MPI_Unpack and MPI_Pack_size, several values in one buffer, and
 * what must fail without moving the position (MPI-5.0, section 5.2).
 */
#include "test/mpi/datatype/expect.h"

int main(int argc, char** argv) {
  MPI_Datatype column;
  int numbers[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0}, position = 0, size;
  double value = 0.5, value_back = 0;
  char packed[64];

  MPI_Init(&argc, &argv);
  ReturnErrors();
  MPI_Type_vector(2, 1, 2, MPI_INT, &column);
  FAILS(MPI_ERR_TYPE, MPI_Pack(numbers, 1, column, packed, 64, &position, MPI_COMM_WORLD));
  FAILS(MPI_ERR_TYPE, MPI_Unpack(packed, 64, &position, numbers, 1, column, MPI_COMM_WORLD));
  MPI_Type_commit(&column);

  WORKS(MPI_Pack(&value, 1, MPI_DOUBLE, packed, 64, &position, MPI_COMM_WORLD));
  WORKS(MPI_Pack(numbers, 2, column, packed, 64, &position, MPI_COMM_WORLD));
  WORKS(MPI_Pack(NULL, 0, MPI_INT, packed, 64, &position, MPI_COMM_WORLD));
  WORKS(MPI_Pack_size(2, column, MPI_COMM_WORLD, &size));
  EXPECT(size >= 16);
#if MPI_VERSION >= 4
  {
    MPI_Count place = 0, bytes;
    char other[64];
    int other_back[6] = {0};
    WORKS(MPI_Pack_size_c(2, column, MPI_COMM_WORLD, &bytes));
    EXPECT(bytes == size);
    WORKS(MPI_Pack_c(numbers, 1, column, other, 64, &place, MPI_COMM_WORLD));
    EXPECT(place > 0 && place <= bytes);
    place = 0;
    WORKS(MPI_Unpack_c(other, 64, &place, other_back, 1, column, MPI_COMM_WORLD));
    EXPECT(other_back[0] == 1 && other_back[1] == 0 && other_back[2] == 3);
    FAILS(MPI_ERR_TYPE, MPI_Pack_size_c(1, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &bytes));
    FAILS(MPI_ERR_TYPE,
          MPI_Pack_c(numbers, 1, MPI_DATATYPE_NULL, other, 64, &place, MPI_COMM_WORLD));
    FAILS(MPI_ERR_COUNT, MPI_Unpack_c(other, 64, &place, numbers, -1, MPI_INT, MPI_COMM_WORLD));
  }
#endif
  size = position;
  position = 0;
  WORKS(MPI_Unpack(packed, size, &position, &value_back, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  WORKS(MPI_Unpack(packed, size, &position, back, 1, column, MPI_COMM_WORLD));
  EXPECT(value_back == 0.5 && back[0] == 1 && back[1] == 0 && back[2] == 3);

  position = 60;
  FAILS(MPI_ERR_COMM, MPI_Pack(numbers, 1, MPI_INT, packed, 64, &position, MPI_COMM_NULL));
  FAILS(MPI_ERR_TYPE,
        MPI_Pack(numbers, 1, MPI_DATATYPE_NULL, packed, 64, &position, MPI_COMM_WORLD));
  FAILS(MPI_ERR_COUNT, MPI_Pack(numbers, -1, MPI_INT, packed, 64, &position, MPI_COMM_WORLD));
  EXPECT(MPI_Pack(numbers, 2, MPI_INT, packed, 64, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
  FAILS(MPI_ERR_COMM, MPI_Unpack(packed, 64, &position, numbers, 1, MPI_INT, MPI_COMM_NULL));
  FAILS(MPI_ERR_TYPE,
        MPI_Unpack(packed, 64, &position, numbers, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD));
  EXPECT(MPI_Unpack(packed, 64, &position, numbers, 2, MPI_INT, MPI_COMM_WORLD) != MPI_SUCCESS);
  EXPECT(position == 60);
  FAILS(MPI_ERR_TYPE, MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &size));
  FAILS(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &size));
  FAILS(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &size));
  MPI_Type_free(&column);
  return Passed();
}
