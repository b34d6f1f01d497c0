/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: external32 for every predefined type: the size of the table, big-endian bytes, and values
 * that come back; sizes in int and _c forms; errors (MPI-5.0, sections 5.3 and 14.5.2).
 */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "test/mpi/datatype/expect.h"

static MPI_Aint ExternalSize(MPI_Datatype type) {
  MPI_Aint size = -1;
  MPI_Pack_external_size("external32", 1, type, &size);
  return size;
}

static void Sizes(void) {
  const struct {
    MPI_Datatype type;
    int size;
  } table[] = {
      {MPI_PACKED, 1},
      {MPI_BYTE, 1},
      {MPI_CHAR, 1},
      {MPI_UNSIGNED_CHAR, 1},
      {MPI_SIGNED_CHAR, 1},
      {MPI_WCHAR, 2},
      {MPI_SHORT, 2},
      {MPI_UNSIGNED_SHORT, 2},
      {MPI_INT, 4},
      {MPI_LONG, 4},
      {MPI_UNSIGNED, 4},
      {MPI_UNSIGNED_LONG, 4},
      {MPI_LONG_LONG_INT, 8},
      {MPI_UNSIGNED_LONG_LONG, 8},
      {MPI_FLOAT, 4},
      {MPI_DOUBLE, 8},
      {MPI_LONG_DOUBLE, 16},
      {MPI_C_BOOL, 1},
      {MPI_INT8_T, 1},
      {MPI_UINT8_T, 1},
      {MPI_INT16_T, 2},
      {MPI_UINT16_T, 2},
      {MPI_INT32_T, 4},
      {MPI_UINT32_T, 4},
      {MPI_INT64_T, 8},
      {MPI_UINT64_T, 8},
      {MPI_AINT, 8},
      {MPI_COUNT, 8},
      {MPI_OFFSET, 8},
      {MPI_C_COMPLEX, 8},
      {MPI_C_FLOAT_COMPLEX, 8},
      {MPI_C_DOUBLE_COMPLEX, 16},
      {MPI_C_LONG_DOUBLE_COMPLEX, 32},
      {MPI_CHARACTER, 1},
      {MPI_LOGICAL, 4},
      {MPI_INTEGER, 4},
      {MPI_REAL, 4},
      {MPI_DOUBLE_PRECISION, 8},
      {MPI_COMPLEX, 8},
      {MPI_DOUBLE_COMPLEX, 16},
      {MPI_CXX_BOOL, 1},
      {MPI_CXX_FLOAT_COMPLEX, 8},
      {MPI_CXX_DOUBLE_COMPLEX, 16},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, 32},
      {MPI_INTEGER1, 1},
      {MPI_INTEGER2, 2},
      {MPI_INTEGER4, 4},
      {MPI_INTEGER8, 8},
      {MPI_REAL4, 4},
      {MPI_REAL8, 8},
      {MPI_REAL16, 16},
      {MPI_COMPLEX8, 8},
      {MPI_COMPLEX16, 16},
      {MPI_COMPLEX32, 32},
      {MPI_FLOAT_INT, 8},
      {MPI_DOUBLE_INT, 12},
      {MPI_LONG_INT, 8},
      {MPI_2INT, 8},
      {MPI_SHORT_INT, 6},
      {MPI_LONG_DOUBLE_INT, 20},
  };
  size_t i;
  for (i = 0; i < sizeof table / sizeof table[0]; ++i) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    const MPI_Aint size = ExternalSize(table[i].type);
    if (size == table[i].size) continue;
    ++failures;
    MPI_Type_get_name(table[i].type, name, &length);
    fprintf(stderr, "%s: %ld bytes, expected %d\n", name, (long)size, table[i].size);
  }
}

/* Packs `count` values, compares with the bytes given, unpacks and compares with the values. */
static void Goes(const void* values, int count, size_t bytes, MPI_Datatype type,
                 const unsigned char* expected, MPI_Aint expected_bytes, int line) {
  char packed[64], back[64];
  MPI_Aint position = 0;
  memset(back, 0, sizeof back);
  MPI_Pack_external("external32", values, count, type, packed, sizeof packed, &position);
  if (position != expected_bytes || memcmp(packed, expected, (size_t)expected_bytes) != 0) {
    ++failures;
    fprintf(stderr, "line %d: other bytes, %ld\n", line, (long)position);
  }
  position = 0;
  MPI_Unpack_external("external32", packed, expected_bytes, &position, back, count, type);
  if (position == expected_bytes && memcmp(back, values, bytes) == 0) return;
  ++failures;
  fprintf(stderr, "line %d: other values\n", line);
}
#define GOES(values, count, type, ...)                                                  \
  do {                                                                                  \
    const unsigned char bytes[] = {__VA_ARGS__};                                        \
    Goes(values, count, sizeof(values), type, bytes, (MPI_Aint)sizeof bytes, __LINE__); \
  } while (0)

static void Values(void) {
  const short shorts[2] = {0x0102, -2};
  const long longs[2] = {0x01020304, -3};
  const unsigned long large[1] = {0xfffffffdul};
  const long long long_longs[1] = {-2};
  const float floats[1] = {-1.5f};
  const double doubles[1] = {1.0};
  const wchar_t wide[1] = {L'A'};
  const bool truths[2] = {true, false};
  const float _Complex complexes[1] = {1.0f};
  const struct {
    short value;
    int index;
  } pairs[1] = {{0x0102, 3}};
  long double extended = -2.0L, extended_back = 0;
  char packed[16];
  const unsigned char quad[16] = {0xc0};
  MPI_Aint position = 0;

  GOES(shorts, 2, MPI_SHORT, 1, 2, 0xff, 0xfe);
  GOES(longs, 2, MPI_LONG, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfd);
  GOES(large, 1, MPI_UNSIGNED_LONG, 0xff, 0xff, 0xff, 0xfd);
  GOES(long_longs, 1, MPI_LONG_LONG, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe);
  GOES(floats, 1, MPI_FLOAT, 0xbf, 0xc0, 0, 0);
  GOES(doubles, 1, MPI_DOUBLE, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0);
  GOES(wide, 1, MPI_WCHAR, 0, 'A');
  GOES(truths, 2, MPI_C_BOOL, 1, 0);
  GOES(complexes, 1, MPI_C_FLOAT_COMPLEX, 0x3f, 0x80, 0, 0, 0, 0, 0, 0);
  MPI_Pack_external("external32", pairs, 1, MPI_SHORT_INT, packed, sizeof packed, &position);
  EXPECT(position == 6 && memcmp(packed, "\1\2\0\0\0\3", 6) == 0);
  position = 0;
  MPI_Pack_external("external32", &extended, 1, MPI_LONG_DOUBLE, packed, sizeof packed, &position);
  EXPECT(memcmp(packed, quad, 16) == 0);
  position = 0;
  MPI_Unpack_external("external32", packed, 16, &position, &extended_back, 1, MPI_LONG_DOUBLE);
  EXPECT(extended_back == extended);
}

static void Derived(void) {
  MPI_Datatype column;
  const int matrix[4] = {1, 2, 3, 4};
  int back[4] = {0};
  char packed[16];
  MPI_Aint position = 0;

  MPI_Type_vector(2, 1, 2, MPI_INT, &column);
  EXPECT(ExternalSize(column) == 8);
  FAILS(MPI_ERR_TYPE, MPI_Pack_external("external32", matrix, 1, column, packed, sizeof packed,
                                        &position)); /* not committed */
  MPI_Type_commit(&column);
  WORKS(MPI_Pack_external("external32", matrix + 1, 1, column, packed, sizeof packed, &position));
  EXPECT(position == 8 && memcmp(packed, "\0\0\0\2\0\0\0\4", 8) == 0);
  position = 0;
  WORKS(MPI_Unpack_external("external32", packed, 8, &position, back, 1, column));
  EXPECT(back[0] == 2 && back[1] == 0 && back[2] == 4);
#if MPI_VERSION >= 4
  {
    MPI_Count size, place = 0;
    WORKS(MPI_Pack_external_size_c("external32", 3, column, &size));
    EXPECT(size == 24);
    WORKS(MPI_Pack_external_c("external32", matrix, 1, column, packed, sizeof packed, &place));
    EXPECT(place == 8 && packed[3] == 1 && packed[7] == 3);
    place = 0;
    WORKS(MPI_Unpack_external_c("external32", packed, 8, &place, back, 1, column));
    EXPECT(place == 8 && back[0] == 1 && back[2] == 3);
    FAILS(MPI_ERR_TYPE, MPI_Pack_external_size_c("external32", 1, MPI_DATATYPE_NULL, &size));
    FAILS(MPI_ERR_TYPE, MPI_Pack_external_c("external32", matrix, 1, MPI_DATATYPE_NULL, packed,
                                            sizeof packed, &place));
    FAILS(MPI_ERR_TYPE,
          MPI_Unpack_external_c("external32", packed, 8, &place, back, 1, MPI_DATATYPE_NULL));
  }
#endif
  MPI_Type_free(&column);
}

static void Errors(void) {
  int number = 1;
  char packed[8];
  MPI_Aint position = 0, size;
  FAILS(MPI_ERR_TYPE, MPI_Pack_external_size("external32", 1, MPI_DATATYPE_NULL, &size));
  FAILS(MPI_ERR_COUNT, MPI_Pack_external_size("external32", -1, MPI_INT, &size));
  FAILS(MPI_ERR_TYPE, MPI_Pack_external("external32", &number, 1, MPI_DATATYPE_NULL, packed,
                                        sizeof packed, &position));
  FAILS(MPI_ERR_COUNT,
        MPI_Pack_external("external32", &number, -1, MPI_INT, packed, sizeof packed, &position));
  FAILS(MPI_ERR_TYPE, MPI_Unpack_external("external32", packed, sizeof packed, &position, &number,
                                          1, MPI_DATATYPE_NULL));
  EXPECT(MPI_Pack_external("other", &number, 1, MPI_INT, packed, sizeof packed, &position) !=
         MPI_SUCCESS);
  EXPECT(MPI_Pack_external("external32", &number, 1, MPI_INT, packed, 3, &position) != MPI_SUCCESS);
  EXPECT(MPI_Unpack_external("external32", packed, 3, &position, &number, 1, MPI_INT) !=
         MPI_SUCCESS);
  EXPECT(position == 0 && number == 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReturnErrors();
  Sizes();
  Values();
  Derived();
  Errors();
  return Passed();
}
