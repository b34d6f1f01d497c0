// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what can be said beforehand of some types is so: named ones are found and lie as C's do,
//         external32 has the standard's bytes, the parts of a distributed array make the whole.
// Method: samples, the compiler's own structs, and all distributions of a small array.
#include <gtest/gtest.h>

#include <cstddef>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/external.h"
#include "runtime/datatype/layout.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

TEST(Predefined, EveryConstantIsFoundAndGivesItsHandleBack) {
  for (Datatype& type : PredefinedTypes()) {
    EXPECT_EQ(FindDatatype(HandleOf(&type)), &type) << type.predefined_name;
    EXPECT_TRUE(type.committed);
  }
  EXPECT_EQ(FindDatatype(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(FindDatatype(reinterpret_cast<MPI_Datatype>(std::uintptr_t{0x211})), nullptr);
}

// Pair types describe C structs as the compiler lays them out.
TEST(Predefined, PairsAreCStructs) {
  struct ShortInt {
    short value;
    int index;
  };
  struct DoubleInt {
    double value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  EXPECT_EQ(FindDatatype(MPI_SHORT_INT)->extent, static_cast<std::int64_t>(sizeof(ShortInt)));
  EXPECT_EQ(FindDatatype(MPI_SHORT_INT)->layout->groups[1].offset,
            static_cast<std::int64_t>(offsetof(ShortInt, index)));
  EXPECT_EQ(FindDatatype(MPI_DOUBLE_INT)->extent, static_cast<std::int64_t>(sizeof(DoubleInt)));
  EXPECT_EQ(FindDatatype(MPI_LONG_DOUBLE_INT)->extent,
            static_cast<std::int64_t>(sizeof(LongDoubleInt)));
}

TEST(External, IsBigEndianWithFixedSizes) {
  const int number = 0x01020304;
  std::byte bytes[16];
  PackExternal({const_cast<int*>(&number), 1, FindDatatype(MPI_INT)}, bytes);
  EXPECT_EQ(std::to_integer<int>(bytes[0]), 1);
  EXPECT_EQ(std::to_integer<int>(bytes[3]), 4);
  const long double one = -1.5L;  // binary128: sign 1, exponent 0x3fff, fraction 0.5
  PackExternal({const_cast<long double*>(&one), 1, FindDatatype(MPI_LONG_DOUBLE)}, bytes);
  EXPECT_EQ(std::to_integer<int>(bytes[0]), 0xbf);
  EXPECT_EQ(std::to_integer<int>(bytes[1]), 0xff);
  EXPECT_EQ(std::to_integer<int>(bytes[2]), 0x80);
  long double back = 0;
  EXPECT_EQ(UnpackExternal(bytes, {&back, 1, FindDatatype(MPI_LONG_DOUBLE)}), 16);
  EXPECT_EQ(back, one);
}

TEST(External32, HalfAnElementIsNotUnpacked) {
  const std::byte bytes[6] = {std::byte{}, std::byte{}, std::byte{}, std::byte{7}};
  int numbers[2] = {1, 2};
  EXPECT_EQ(UnpackExternal(bytes, {numbers, 2, FindDatatype(MPI_INT)}), 4);
  EXPECT_EQ(numbers[0], 7);
  EXPECT_EQ(numbers[1], 2);
}

TEST(Distributed, AllProcessesTogetherHaveEveryElementOnce) {
  for (const int kind : {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE})
    for (const std::int64_t argument : {std::int64_t{MPI_DISTRIBUTE_DFLT_DARG}, std::int64_t{3}})
      for (std::int64_t processes = 1; processes <= 4; ++processes) {
        if (kind == MPI_DISTRIBUTE_NONE && processes > 1) continue;
        if (kind == MPI_DISTRIBUTE_BLOCK && argument == 3 && processes * 3 < 11) continue;
        std::vector<int> owners(11 * 5);
        for (std::int64_t coordinate = 0; coordinate < processes; ++coordinate) {
          const Distribution grid[] = {{11, kind, argument, processes, coordinate},
                                       {5, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 1, 0}};
          Datatype* type = MakeDistributedArray(grid, FindDatatype(MPI_INT));
          Commit(type);
          EXPECT_EQ(type->lower, 0);
          EXPECT_EQ(type->extent, 11 * 5 * 4);
          std::vector<int> ones(static_cast<std::size_t>(type->size / 4), 1);
          std::vector<int> mine(owners.size());
          Unpack(std::as_bytes(std::span(ones)), 0, {mine.data(), 1, type});
          for (std::size_t i = 0; i < owners.size(); ++i) owners[i] += mine[i];
          Release(type);
        }
        EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
      }
}

}  // namespace
}  // namespace lamina::datatype
