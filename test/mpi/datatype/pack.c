/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: what MPI_Pack writes MPI_Unpack reads, MPI_PACKED messages match anything, and external32
 * has the bytes the standard fixes (MPI-5.0, sections 5.2 and 14.5.2).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  MPI_Datatype column;
  int matrix[4][4], back[4][4], rank, size, i, position = 0, end, bytes, room, wrong = 0;
  double number = 2.5, number_back = 0;
  char buffer[400];
  MPI_Aint external_bytes, external_position = 0;
  const short shorts[2] = {0x0102, -2};
  short shorts_back[2] = {0, 0};
  const unsigned char expected[4] = {1, 2, 0xff, 0xfe};

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < 16; ++i) matrix[i / 4][i % 4] = i + 100 * rank, back[i / 4][i % 4] = -1;
  MPI_Type_vector(4, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);

  MPI_Pack_size(1, column, MPI_COMM_WORLD, &bytes);
  EXPECT(bytes >= 16);
  MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &room);
  EXPECT(room >= 8);
  MPI_Pack(&number, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  EXPECT(position <= room);
  MPI_Pack(&matrix[0][2], 1, column, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
  EXPECT(position <= room + bytes);

  /* The packed data go to the next rank as they are. */
  end = position;
  MPI_Sendrecv_replace(buffer, sizeof buffer, MPI_PACKED, (rank + 1) % size, 1,
                       (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  position = 0;
  MPI_Unpack(buffer, sizeof buffer, &position, &number_back, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Unpack(buffer, sizeof buffer, &position, &back[0][1], 1, column, MPI_COMM_WORLD);
  EXPECT(position == end && number_back == 2.5);
  for (i = 0; i < 4; ++i)
    wrong += back[i][1] != i * 4 + 2 + 100 * ((rank + size - 1) % size) || back[i][0] != -1;
  EXPECT(wrong == 0);

  MPI_Pack_external_size("external32", 2, MPI_SHORT, &external_bytes);
  EXPECT(external_bytes == 4);
  MPI_Pack_external("external32", shorts, 2, MPI_SHORT, buffer, sizeof buffer, &external_position);
  EXPECT(external_position == 4 && memcmp(buffer, expected, 4) == 0);
  external_position = 0;
  MPI_Unpack_external("external32", buffer, 4, &external_position, shorts_back, 2, MPI_SHORT);
  EXPECT(shorts_back[0] == 0x0102 && shorts_back[1] == -2);

  MPI_Type_free(&column);
  return Passed();
}
