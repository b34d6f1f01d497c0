// SPDX-License-Identifier: BSD-3-Clause
// Goal:   types by precision and range are those of the Fortran compiler, pairs are C structs, and
//         neither is made twice.
// Method: the boundaries of every kind; a C struct beside the pair.
#include "runtime/datatype/parametrised.h"

#include <gtest/gtest.h>

namespace lamina::datatype {
namespace {

TEST(Parametrised, SameArgumentsSameType) {
  EXPECT_EQ(FortranInteger(9), FortranInteger(9));
  EXPECT_NE(FortranInteger(9), FortranInteger(8));
  EXPECT_EQ(FortranInteger(9)->size, 4);
  EXPECT_EQ(FortranInteger(39), nullptr);
  EXPECT_EQ(FortranReal(6, MPI_UNDEFINED)->basic, Basic::kFloat);
  EXPECT_EQ(FortranReal(6, 38)->basic, Basic::kDouble);
  EXPECT_EQ(FortranReal(18, 308)->basic, Basic::kLongDouble);
  EXPECT_EQ(FortranReal(33, 4931)->basic, Basic::kFloat128);
  EXPECT_EQ(FortranReal(34, 1), nullptr);
  EXPECT_EQ(FortranComplex(15, 307)->basic, Basic::kDoubleComplex);
  EXPECT_TRUE(FortranInteger(9)->committed);
  EXPECT_EQ(FindDatatype(HandleOf(FortranInteger(9))), FortranInteger(9));
  Release(FortranInteger(9));  // does nothing
  EXPECT_EQ(FindDatatype(HandleOf(FortranInteger(9))), FortranInteger(9));
}

TEST(Parametrised, PairsAreCStructs) {
  struct P {
    short value;
    std::int64_t index;
  };
  const Datatype* pair = ValueIndex(FindDatatype(MPI_SHORT), FindDatatype(MPI_COUNT));
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->extent, static_cast<std::int64_t>(sizeof(P)));
  EXPECT_EQ(pair->size, 10);
  EXPECT_EQ(pair->elements, 2);
  const P from[2] = {{1, 2}, {3, 4}};
  P into[2] = {};
  Copy({const_cast<P*>(from), 2, pair}, {into, 2, pair});
  EXPECT_EQ(into[1].value, 3);
  EXPECT_EQ(into[1].index, 4);
  EXPECT_EQ(ValueIndex(FindDatatype(MPI_INT), FindDatatype(MPI_INT)), FindDatatype(MPI_2INT));
  EXPECT_EQ(ValueIndex(FindDatatype(MPI_INT), FindDatatype(MPI_FLOAT)), nullptr);
  EXPECT_EQ(ValueIndex(FindDatatype(MPI_BYTE), FindDatatype(MPI_INT)), nullptr);
}

}  // namespace
}  // namespace lamina::datatype
