// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every predefined operation takes exactly the kinds of elements that table 6.1 of MPI-5.0
//         gives it, with characters as integers, and computes in[i] op inout[i]; user operations
//         are called as they were made.
// Method: the table as a list of classes beside the predefined types; small vectors with answers
//         known by hand, longer ones with those of each element alone.
#include "runtime/datatype/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

enum Class { kInteger, kFloating, kLogical, kComplex, kByte, kPair, kOther };

Class ClassOf(Basic basic) {
  if (basic >= Basic::kChar && basic <= Basic::kInt128) return kInteger;
  if (basic >= Basic::kFloat && basic <= Basic::kFloat128) return kFloating;
  if (basic >= Basic::kFloatComplex && basic <= Basic::kFloat128Complex) return kComplex;
  if (basic >= Basic::kBool && basic <= Basic::kLogical16) return kLogical;
  if (basic == Basic::kPair) return kPair;
  return basic == Basic::kByte ? kByte : kOther;
}

TEST(Op, FitsWhatTheTableSays) {
  const std::map<MPI_Op, std::set<Class>> table = {{MPI_MAX, {kInteger, kFloating}},
                                                   {MPI_MIN, {kInteger, kFloating}},
                                                   {MPI_SUM, {kInteger, kFloating, kComplex}},
                                                   {MPI_PROD, {kInteger, kFloating, kComplex}},
                                                   {MPI_LAND, {kInteger, kLogical}},
                                                   {MPI_LOR, {kInteger, kLogical}},
                                                   {MPI_LXOR, {kInteger, kLogical}},
                                                   {MPI_BAND, {kInteger, kByte}},
                                                   {MPI_BOR, {kInteger, kByte}},
                                                   {MPI_BXOR, {kInteger, kByte}},
                                                   {MPI_MINLOC, {kPair}},
                                                   {MPI_MAXLOC, {kPair}},
                                                   {MPI_REPLACE, {}},
                                                   {MPI_NO_OP, {}}};
  for (const auto& [handle, classes] : table) {
    const Op* op = FindOp(handle);
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(HandleOf(op), handle);
    for (const Datatype& type : PredefinedTypes())
      EXPECT_EQ(Fits(*op, type), classes.contains(ClassOf(type.basic)))
          << op->name << " " << type.predefined_name;
  }
  EXPECT_EQ(FindOp(MPI_OP_NULL), nullptr);
}

template <class T>
std::vector<T> Reduced(MPI_Op op, MPI_Datatype type, std::vector<T> in, std::vector<T> inout) {
  Reduce(*FindOp(op), in.data(), inout.data(), static_cast<std::int64_t>(in.size()),
         *FindDatatype(type));
  return inout;
}

TEST(Op, Computes) {
  using V = std::vector<int>;
  const V a = {6, -3, 0, 7}, b = {5, -4, 9, 0};
  EXPECT_EQ(Reduced(MPI_SUM, MPI_INT, a, b), (V{11, -7, 9, 7}));
  EXPECT_EQ(Reduced(MPI_PROD, MPI_INT, a, b), (V{30, 12, 0, 0}));
  EXPECT_EQ(Reduced(MPI_MIN, MPI_INT, a, b), (V{5, -4, 0, 0}));
  EXPECT_EQ(Reduced(MPI_MAX, MPI_INT, a, b), (V{6, -3, 9, 7}));
  EXPECT_EQ(Reduced(MPI_BAND, MPI_INT, a, b), (V{4, -4, 0, 0}));
  EXPECT_EQ(Reduced(MPI_BOR, MPI_INT, a, b), (V{7, -3, 9, 7}));
  EXPECT_EQ(Reduced(MPI_BXOR, MPI_INT, a, b), (V{3, 1, 9, 7}));
  EXPECT_EQ(Reduced(MPI_LAND, MPI_INT, a, b), (V{1, 1, 0, 0}));
  EXPECT_EQ(Reduced(MPI_LOR, MPI_INT, a, b), (V{1, 1, 1, 1}));
  EXPECT_EQ(Reduced(MPI_LXOR, MPI_INT, a, b), (V{0, 0, 1, 1}));
  using C = std::vector<std::complex<double>>;
  EXPECT_EQ(Reduced(MPI_PROD, MPI_C_DOUBLE_COMPLEX, C{{1, 2}}, C{{3, -4}}), (C{{11, 2}}));
}

// Combines elements one at a time and all at once, with a rest behind the last whole vector.
template <class T>
void SameAloneAndTogether(MPI_Op op, MPI_Datatype type) {
  constexpr int kLongest = 71;
  std::vector<T> a(kLongest), b(kLongest), all(kLongest + 1), each(kLongest);
  for (int i = 0; i < kLongest; ++i) {
    a[static_cast<std::size_t>(i)] = static_cast<T>(37 * i % 101 - 20);
    b[static_cast<std::size_t>(i)] = static_cast<T>(53 * i % 97 - 30);
  }
  for (std::size_t i = 0; i < each.size(); ++i)
    Combine(*FindOp(op), &a[i], &b[i], &each[i], 1, *FindDatatype(type));
  for (std::size_t count = 0; count <= each.size(); ++count) {
    std::fill(all.begin(), all.end(), T{3});
    Combine(*FindOp(op), a.data(), b.data(), all.data(), static_cast<std::int64_t>(count),
            *FindDatatype(type));
    EXPECT_TRUE(
        std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), each.begin()))
        << FindOp(op)->name << " of " << count;
    EXPECT_EQ(all[count], T{3}) << FindOp(op)->name << " of " << count;
  }
}

TEST(Op, ComputesVectorsAsItComputesNumbers) {
  for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX}) {
    SameAloneAndTogether<double>(op, MPI_DOUBLE);
    SameAloneAndTogether<float>(op, MPI_FLOAT);
  }
  for (const MPI_Op op : {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BXOR, MPI_LAND}) {
    SameAloneAndTogether<std::int8_t>(op, MPI_INT8_T);
    SameAloneAndTogether<std::uint16_t>(op, MPI_UINT16_T);
    SameAloneAndTogether<int>(op, MPI_INT);
    SameAloneAndTogether<std::int64_t>(op, MPI_INT64_T);
  }
  for (const MPI_Op op : {MPI_SUM, MPI_PROD})
    SameAloneAndTogether<std::complex<double>>(op, MPI_C_DOUBLE_COMPLEX);
}

TEST(Op, OverflowWrapsAround) {
  using V = std::vector<std::int8_t>;
  EXPECT_EQ(Reduced(MPI_SUM, MPI_INT8_T, V{127}, V{1}), V{-128});
  using L = std::vector<std::int64_t>;
  EXPECT_EQ(Reduced(MPI_SUM, MPI_INT64_T, L{INT64_MAX}, L{1}), L{INT64_MIN});
}

// IEEE binary16 is computed by hand: every number plus nothing is itself, and what lies between two
// numbers is rounded to the nearest, to the even one in the middle.
TEST(Op, HalfPrecisionRoundsRight) {
  using V = std::vector<std::uint16_t>;
  V all, zeros(0x7c00);
  for (unsigned bits = 0; bits < 0x7c00; ++bits) all.push_back(static_cast<std::uint16_t>(bits));
  EXPECT_EQ(Reduced(MPI_SUM, MPI_REAL2, all, zeros), all);
  V negative = all;
  for (std::uint16_t& bits : negative) bits |= 0x8000;
  negative[0] = 0;  // -0 + 0 is 0
  EXPECT_EQ(Reduced(MPI_SUM, MPI_REAL2, negative, zeros), negative);
  // The sums are halfway cases, a sum that rounds to infinity, and infinity minus infinity.
  const V sums = Reduced(MPI_SUM, MPI_REAL2, V{0x6800, 0x6800, 0x7bff, 0x7bff, 0x7c00},
                         V{0x3c00, 0x4200, 0x4c00, 0x4800, 0xfc00});
  EXPECT_EQ(sums, (V{0x6800, 0x6802, 0x7c00, 0x7bff, 0xfe00}));
  // A half of the smallest number rounds to the even one, which is zero; three quarters round up.
  EXPECT_EQ(Reduced(MPI_PROD, MPI_REAL2, V{1, 1, 3}, V{0x3800, 0x3a00, 0x3800}), (V{0, 1, 2}));
}

TEST(Op, LocationTakesTheLowestIndexOfEqualValues) {
  struct P {
    double value;
    int index;
  };
  const P a[] = {{1, 5}, {2, 0}, {3, 4}}, b[] = {{1, 3}, {1, 9}, {3, 4}};
  P low[3] = {b[0], b[1], b[2]}, high[3] = {b[0], b[1], b[2]};
  Reduce(*FindOp(MPI_MINLOC), a, low, 3, *FindDatatype(MPI_DOUBLE_INT));
  Reduce(*FindOp(MPI_MAXLOC), a, high, 3, *FindDatatype(MPI_DOUBLE_INT));
  EXPECT_EQ(low[0].index, 3);
  EXPECT_EQ(low[1].index, 9);
  EXPECT_EQ(high[0].index, 3);
  EXPECT_EQ(high[1].index, 0);
  EXPECT_EQ(high[2].value, 3);
}

void Minus(void* in, void* inout, int* length, MPI_Datatype* type) {
  EXPECT_EQ(*type, MPI_INT);
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}

TEST(Op, CallsTheUsersFunctionWithInFirst) {
  Op op;
  op.user = reinterpret_cast<void (*)()>(Minus);
  const int in[] = {10, 20};
  int inout[] = {1, 2};
  EXPECT_TRUE(Fits(op, *FindDatatype(MPI_CHAR)));
  Reduce(op, in, inout, 2, *FindDatatype(MPI_INT));
  EXPECT_EQ(inout[0], 9);
  EXPECT_EQ(inout[1], 18);
}

TEST(Op, CombinesIntoAThirdPlace) {
  const int first[] = {10, 20, 30}, second[] = {1, 2, 3};
  int out[3] = {};
  Combine(*FindOp(MPI_SUM), first, second, out, 3, *FindDatatype(MPI_INT));
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{11, 22, 33}));
  Op minus;
  minus.user = reinterpret_cast<void (*)()>(Minus);
  Combine(minus, first, second, out, 3, *FindDatatype(MPI_INT));
  EXPECT_EQ(std::vector<int>(out, out + 3), (std::vector<int>{9, 18, 27}));
  EXPECT_EQ(second[2], 3);
}

}  // namespace
}  // namespace lamina::datatype
