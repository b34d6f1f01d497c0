/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: every predefined operation on every type that the table of section 6.9.2 of MPI-5.0 gives
 * it: integers of C and Fortran, floating point, complex, logical, byte and multi-language types,
 * pairs; MPI_ERR_OP for the others. Operations of the application in int and _c form, and what the
 * functions on operations must refuse.
 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "test/mpi/datatype/expect.h"

/* Reduces 6 and 3 and checks the results. */
#define NUMBERS(type, c_type)                             \
  do {                                                    \
    const c_type six[2] = {6, 6};                         \
    c_type out[2] = {3, 3};                               \
    WORKS(MPI_Reduce_local(six, out, 2, type, MPI_SUM));  \
    EXPECT(out[0] == 9 && out[1] == 9);                   \
    WORKS(MPI_Reduce_local(six, out, 2, type, MPI_PROD)); \
    EXPECT(out[0] == 54 && out[1] == 54);                 \
  } while (0)
#define ORDERED(type, c_type)                                           \
  do {                                                                  \
    const c_type six[2] = {6, 1};                                       \
    c_type out[2] = {3, 2};                                             \
    NUMBERS(type, c_type);                                              \
    WORKS(MPI_Reduce_local(six, out, 2, type, MPI_MAX));                \
    EXPECT(out[0] == 6 && out[1] == 2);                                 \
    WORKS(MPI_Reduce_local(six, out, 2, type, MPI_MIN));                \
    EXPECT(out[0] == 6 && out[1] == 1);                                 \
    FAILS(MPI_ERR_OP, MPI_Reduce_local(six, out, 1, type, MPI_MAXLOC)); \
  } while (0)
#define BITS(type, c_type)                                \
  do {                                                    \
    const c_type six[1] = {6};                            \
    c_type out[1] = {3};                                  \
    WORKS(MPI_Reduce_local(six, out, 1, type, MPI_BOR));  \
    EXPECT(out[0] == 7);                                  \
    WORKS(MPI_Reduce_local(six, out, 1, type, MPI_BXOR)); \
    EXPECT(out[0] == 1);                                  \
    out[0] = 3;                                           \
    WORKS(MPI_Reduce_local(six, out, 1, type, MPI_BAND)); \
    EXPECT(out[0] == 2);                                  \
  } while (0)
#define LOGICALS(type, c_type)                            \
  do {                                                    \
    const c_type in[4] = {0, 0, 1, 1};                    \
    c_type and [4] = {0, 1, 0, 1}, or [4] = {0, 1, 0, 1}, \
               xor[4] = {                                 \
                   0, 1, 0, 1};                           \
    WORKS(MPI_Reduce_local(in, and, 4, type, MPI_LAND));  \
    WORKS(MPI_Reduce_local(in, or, 4, type, MPI_LOR));    \
    WORKS(MPI_Reduce_local(in, xor, 4, type, MPI_LXOR));  \
    EXPECT(!and[0] && !and[1] && !and[2] && and[3]);      \
    EXPECT(! or [0] && or [1] && or [2] && or [3]);       \
    EXPECT(!xor[0] && xor[1] && xor[2] && !xor[3]);       \
  } while (0)
#define INTEGERS(type, c_type) \
  do {                         \
    ORDERED(type, c_type);     \
    BITS(type, c_type);        \
  } while (0)
#define FLOATING(type, c_type)                                       \
  do {                                                               \
    c_type in[1] = {1}, out[1] = {2};                                \
    ORDERED(type, c_type);                                           \
    FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, type, MPI_BAND)); \
    FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, type, MPI_LXOR)); \
  } while (0)
#define COMPLEXES(type, c_type)                                     \
  do {                                                              \
    c_type in[1] = {I}, out[1] = {I};                               \
    NUMBERS(type, c_type);                                          \
    WORKS(MPI_Reduce_local(in, out, 1, type, MPI_PROD));            \
    EXPECT(out[0] == -1);                                           \
    FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, type, MPI_MAX)); \
  } while (0)
/* The result is the lower value, or the lower index of equal values. */
#define PAIRS(type, value_type, index_type)                                  \
  do {                                                                       \
    const struct {                                                           \
      value_type value;                                                      \
      index_type index;                                                      \
    } in[3] = {{1, 7}, {5, 2}, {4, 1}};                                      \
    struct {                                                                 \
      value_type value;                                                      \
      index_type index;                                                      \
    } low[3] = {{3, 4}, {5, 6}, {2, 9}}, high[3] = {{3, 4}, {5, 6}, {2, 9}}; \
    WORKS(MPI_Reduce_local(in, low, 3, type, MPI_MINLOC));                   \
    WORKS(MPI_Reduce_local(in, high, 3, type, MPI_MAXLOC));                  \
    EXPECT(low[0].value == 1 && low[0].index == 7);                          \
    EXPECT(low[1].value == 5 && low[1].index == 2);                          \
    EXPECT(low[2].value == 2 && low[2].index == 9);                          \
    EXPECT(high[0].value == 3 && high[0].index == 4);                        \
    EXPECT(high[1].value == 5 && high[1].index == 2);                        \
    EXPECT(high[2].value == 4 && high[2].index == 1);                        \
    FAILS(MPI_ERR_OP, MPI_Reduce_local(in, low, 1, type, MPI_SUM));          \
  } while (0)

static void Table(void) {
  INTEGERS(MPI_INT, int);
  LOGICALS(MPI_INT, int);
  INTEGERS(MPI_LONG, long);
  LOGICALS(MPI_LONG, long);
  INTEGERS(MPI_SHORT, short);
  LOGICALS(MPI_SHORT, short);
  INTEGERS(MPI_UNSIGNED_SHORT, unsigned short);
  INTEGERS(MPI_UNSIGNED, unsigned);
  INTEGERS(MPI_UNSIGNED_LONG, unsigned long);
  LOGICALS(MPI_UNSIGNED_LONG, unsigned long);
  INTEGERS(MPI_LONG_LONG_INT, long long);
  INTEGERS(MPI_UNSIGNED_LONG_LONG, unsigned long long);
  INTEGERS(MPI_SIGNED_CHAR, signed char);
  LOGICALS(MPI_SIGNED_CHAR, signed char);
  /* The standard's table lacks these, but every MPI has them. */
  INTEGERS(MPI_CHAR, char);
  LOGICALS(MPI_CHAR, char);
  INTEGERS(MPI_UNSIGNED_CHAR, unsigned char);
  INTEGERS(MPI_INT8_T, int8_t);
  INTEGERS(MPI_INT16_T, int16_t);
  INTEGERS(MPI_INT32_T, int32_t);
  INTEGERS(MPI_INT64_T, int64_t);
  INTEGERS(MPI_UINT8_T, uint8_t);
  INTEGERS(MPI_UINT16_T, uint16_t);
  INTEGERS(MPI_UINT32_T, uint32_t);
  INTEGERS(MPI_UINT64_T, uint64_t);
  INTEGERS(MPI_AINT, MPI_Aint);
  INTEGERS(MPI_OFFSET, MPI_Offset);
  INTEGERS(MPI_COUNT, MPI_Count);
  INTEGERS(MPI_INTEGER, int);
  INTEGERS(MPI_INTEGER1, int8_t);
  INTEGERS(MPI_INTEGER2, int16_t);
  INTEGERS(MPI_INTEGER4, int32_t);
  INTEGERS(MPI_INTEGER8, int64_t);
  FLOATING(MPI_FLOAT, float);
  FLOATING(MPI_DOUBLE, double);
  FLOATING(MPI_LONG_DOUBLE, long double);
  FLOATING(MPI_REAL, float);
  FLOATING(MPI_DOUBLE_PRECISION, double);
  FLOATING(MPI_REAL4, float);
  FLOATING(MPI_REAL8, double);
  COMPLEXES(MPI_C_FLOAT_COMPLEX, float _Complex);
  COMPLEXES(MPI_C_DOUBLE_COMPLEX, double _Complex);
  COMPLEXES(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
  COMPLEXES(MPI_CXX_FLOAT_COMPLEX, float _Complex);
  COMPLEXES(MPI_CXX_DOUBLE_COMPLEX, double _Complex);
  COMPLEXES(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex);
  COMPLEXES(MPI_COMPLEX, float _Complex);
  COMPLEXES(MPI_DOUBLE_COMPLEX, double _Complex);
  COMPLEXES(MPI_COMPLEX8, float _Complex);
  COMPLEXES(MPI_COMPLEX16, double _Complex);
  LOGICALS(MPI_C_BOOL, bool);
  LOGICALS(MPI_CXX_BOOL, bool);
  LOGICALS(MPI_LOGICAL, int);
  BITS(MPI_BYTE, unsigned char);
  PAIRS(MPI_FLOAT_INT, float, int);
  PAIRS(MPI_DOUBLE_INT, double, int);
  PAIRS(MPI_LONG_INT, long, int);
  PAIRS(MPI_2INT, int, int);
  PAIRS(MPI_SHORT_INT, short, int);
  PAIRS(MPI_LONG_DOUBLE_INT, long double, int);
  PAIRS(MPI_2REAL, float, float);
  PAIRS(MPI_2DOUBLE_PRECISION, double, double);
  PAIRS(MPI_2INTEGER, int, int);
}

/* These types are optional, and not every MPI has them. */
static void Optional(void) {
#if defined(MPI_ABI_VERSION)
  /* IEEE binary16: 1.5 + 0.25, 65504 + 65504 overflows, the smallest number twice. */
  const uint16_t in[3] = {0x3e00, 0x7bff, 0x0001};
  uint16_t out[3] = {0x3400, 0x7bff, 0x0001};
  WORKS(MPI_Reduce_local(in, out, 3, MPI_REAL2, MPI_SUM));
  EXPECT(out[0] == 0x3f00 && out[1] == 0x7c00 && out[2] == 0x0002);
  out[0] = 0xbe00; /* -1.5 */
  WORKS(MPI_Reduce_local(in, out, 1, MPI_REAL2, MPI_MAX));
  EXPECT(out[0] == 0x3e00);
  /* 2048 + 1 lies in the middle and rounds to the even one. */
  {
    const uint16_t one[2] = {0x3c00, 0x4200};
    uint16_t large[2] = {0x6800, 0x6800};
    WORKS(MPI_Reduce_local(one, large, 2, MPI_REAL2, MPI_SUM));
    EXPECT(large[0] == 0x6800 && large[1] == 0x6802);
  }
  FLOATING(MPI_REAL16, __float128);
  INTEGERS(MPI_INTEGER16, __int128);
  LOGICALS(MPI_LOGICAL1, int8_t);
  LOGICALS(MPI_LOGICAL2, int16_t);
  LOGICALS(MPI_LOGICAL4, int32_t);
  LOGICALS(MPI_LOGICAL8, int64_t);
#endif
}

static void Refused(void) {
  MPI_Datatype pair;
  int in[2] = {1, 2}, out[2] = {3, 4};
  wchar_t letters[2] = L"a";
  /* Wide characters are letters, bytes are bits, and a derived type is only for the application. */
  FAILS(MPI_ERR_OP, MPI_Reduce_local(letters, letters, 0, MPI_WCHAR, MPI_SUM));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, MPI_BYTE, MPI_SUM));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, MPI_INT, MPI_MINLOC));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, MPI_C_BOOL, MPI_SUM));
  FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, MPI_INT, MPI_OP_NULL));
  FAILS(MPI_ERR_TYPE, MPI_Reduce_local(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM));
  FAILS(MPI_ERR_COUNT, MPI_Reduce_local(in, out, -1, MPI_INT, MPI_SUM));
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  FAILS(MPI_ERR_OP, MPI_Reduce_local(in, out, 1, pair, MPI_SUM));
  MPI_Type_free(&pair);
  EXPECT(out[0] == 3 && out[1] == 4);
}

static MPI_Datatype seen;

static void Minus(void* in, void* inout, int* length, MPI_Datatype* type) {
  int i;
  seen = *type;
  for (i = 0; i < *length; ++i) ((int*)inout)[i] = ((int*)in)[i] - ((int*)inout)[i];
}

#if MPI_VERSION >= 4
static void LargeMinus(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
  MPI_Count i;
  seen = *type;
  for (i = 0; i < *length; ++i) ((int*)inout)[i] = ((int*)in)[i] - ((int*)inout)[i];
}
#endif

static void Own(void) {
  MPI_Op op, predefined = MPI_SUM, none = MPI_OP_NULL;
  const int in[2] = {10, 20};
  int out[2] = {1, 2}, flag;

  WORKS(MPI_Op_create(Minus, 0, &op));
  WORKS(MPI_Op_commutative(op, &flag));
  EXPECT(!flag);
  WORKS(MPI_Reduce_local(in, out, 2, MPI_INT, op));
  EXPECT(out[0] == 9 && out[1] == 18 && seen == MPI_INT);
  WORKS(MPI_Op_free(&op));
  EXPECT(op == MPI_OP_NULL);
  WORKS(MPI_Op_create(Minus, 1, &op));
  WORKS(MPI_Op_commutative(op, &flag));
  EXPECT(flag);
  MPI_Op_free(&op);
  WORKS(MPI_Op_commutative(MPI_MAX, &flag));
  EXPECT(flag);
#if MPI_VERSION >= 4
  WORKS(MPI_Op_create_c(LargeMinus, 0, &op));
  WORKS(MPI_Reduce_local_c(in, out, 2, MPI_INT, op));
  EXPECT(out[0] == 1 && out[1] == 2);
  WORKS(MPI_Reduce_local(in, out, 2, MPI_INT, op));
  EXPECT(out[0] == 9 && out[1] == 18);
  MPI_Op_free(&op);
  FAILS(MPI_ERR_OP, MPI_Reduce_local_c(in, out, 1, MPI_INT, MPI_OP_NULL));
  FAILS(MPI_ERR_ARG, MPI_Op_create_c(NULL, 0, &op));
#endif
  FAILS(MPI_ERR_ARG, MPI_Op_create(NULL, 0, &op));
  FAILS(MPI_ERR_OP, MPI_Op_free(&predefined));
  EXPECT(predefined == MPI_SUM);
  FAILS(MPI_ERR_OP, MPI_Op_free(&none));
  FAILS(MPI_ERR_OP, MPI_Op_commutative(MPI_OP_NULL, &flag));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ReturnErrors();
  Table();
  Optional();
  Refused();
  Own();
  return Passed();
}
