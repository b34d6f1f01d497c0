// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a layout has one group for what one loop can copy, takes no memory for what repeats, and
//         every loop copies pieces of every size; sizes beyond 64 bits are noticed.
// Method: types with a known layout; packing compared with a list of byte offsets.
#include "runtime/datatype/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/datatype/construct.h"

namespace lamina::datatype {
namespace {

void FillWithCounter(std::span<std::byte> bytes) {
  unsigned value = 1;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(value++ * 151u);
}

const Layout& LayoutOf(Datatype* type) {
  Commit(type);
  return *type->layout;
}

TEST(Layout, OneLoopForAnythingRegularInOneDimension) {
  Datatype* number = FindDatatype(MPI_DOUBLE);
  Datatype* column = MakeVector(1000000, 1, 80, number);
  EXPECT_EQ(LayoutOf(column).groups.size(), 1u);
  EXPECT_EQ(column->layout->pieces, 1000000);
  Datatype* rows = MakeContiguous(1000000, number);
  EXPECT_EQ(LayoutOf(rows).pieces, 1);
  EXPECT_TRUE(rows->contiguous);
  const Dimension box[] = {{100, 10, 5}, {100, 100, 0}};
  Datatype* slab = MakeSubarray(box, number);
  ASSERT_EQ(LayoutOf(slab).pieces, 1);
  EXPECT_EQ(slab->layout->groups[0].bytes, 10 * 100 * 8);
  for (Datatype* type : {column, rows, slab}) Release(type);
}

TEST(Layout, ListsPiecesOfOneSizeAndMixesTheRest) {
  Datatype* number = FindDatatype(MPI_INT);
  std::vector<Part> equal, mixed;
  for (std::int64_t i = 0; i < 100; ++i) {
    equal.push_back(Part{number, i * i * 8, 1});
    mixed.push_back(Part{number, i * i * 40, 1 + i % 3});
  }
  Datatype* listed = MakeBlocks(equal);
  ASSERT_EQ(LayoutOf(listed).groups.size(), 1u);
  EXPECT_EQ(listed->layout->groups[0].kind, Group::Kind::kListed);
  Datatype* uneven = MakeBlocks(mixed);
  ASSERT_EQ(LayoutOf(uneven).groups.size(), 1u);
  EXPECT_EQ(uneven->layout->groups[0].kind, Group::Kind::kMixed);
  EXPECT_EQ(uneven->layout->pieces, 100);
  Release(listed);
  Release(uneven);
}

// Very many copies of something irregular are never written out.
TEST(Layout, GrowsWithTheArgumentsAndNotWithTheData) {
  constexpr std::int64_t kCopies = std::int64_t{1} << 40;
  Datatype* pair = FindDatatype(MPI_SHORT_INT);
  Datatype* many = MakeContiguous(kCopies, pair);
  Datatype* blocks = MakeVector(kCopies, 3000, 100000, pair);
  Datatype* both = MakeBlocks({Part{many, 0, 1}, Part{blocks, kCopies * 8, 1}});
  EXPECT_EQ(LayoutOf(many).groups.size(), 1u);
  EXPECT_EQ(LayoutOf(blocks).groups.size(), 1u);
  EXPECT_LE(LayoutOf(both).groups.size(), 2u);
  EXPECT_EQ(both->size, kCopies * 6 * 3001);
  for (Datatype* type : {many, blocks, both}) Release(type);
}

// What is nested is packed like what is written out, wherever the range begins and ends.
TEST(Layout, NestedIsPackedAlike) {
  Datatype* pair = FindDatatype(MPI_SHORT_INT);
  Datatype* many = MakeVector(300, 2, 24, pair);
  Datatype* most = MakeBlocks({Part{pair, 0, 1}, Part{many, 16, 3}});
  ASSERT_GE(LayoutOf(most).pieces, kManyPieces);
  std::vector<std::int64_t> offsets;
  const auto add = [&](std::int64_t at) {
    for (const std::int64_t byte : {0, 1, 4, 5, 6, 7}) offsets.push_back(at + byte);
  };
  add(0);
  for (std::int64_t copy = 0; copy < 3; ++copy)
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t j = 0; j < 2; ++j) add(16 + copy * many->extent + i * 24 + j * 8);
  std::vector<std::byte> memory(static_cast<std::size_t>(most->extent));
  FillWithCounter(memory);
  ASSERT_EQ(most->size, static_cast<std::int64_t>(offsets.size()));
  std::vector<std::byte> packed(offsets.size()), expected;
  for (const std::int64_t offset : offsets)
    expected.push_back(memory[static_cast<std::size_t>(offset)]);
  for (std::size_t piece = 1; piece < 3000; piece = piece * 3 + 1) {
    std::fill(packed.begin(), packed.end(), std::byte{0});
    for (std::size_t first = 0; first < packed.size(); first += piece)
      Pack({memory.data(), 1, most}, static_cast<std::int64_t>(first),
           std::span(packed).subspan(first, std::min(piece, packed.size() - first)));
    ASSERT_TRUE(packed == expected) << piece;
  }
  Release(most);
  Release(many);
}

// Packs and unpacks `count` elements and compares with the offsets of the bytes of one.
void ExpectCopies(Datatype* type, const std::vector<std::int64_t>& offsets, std::int64_t count) {
  Commit(type);
  ASSERT_EQ(type->size, static_cast<std::int64_t>(offsets.size()));
  std::vector<std::byte> memory(static_cast<std::size_t>(type->extent * count));
  FillWithCounter(memory);
  std::vector<std::byte> packed(offsets.size() * static_cast<std::size_t>(count)), expected;
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t offset : offsets)
      expected.push_back(memory[static_cast<std::size_t>(i * type->extent + offset)]);
  Pack({memory.data(), count, type}, 0, packed);
  ASSERT_TRUE(packed == expected);
  // The same bytes come back, and the holes stay as they were.
  std::vector<std::byte> back(memory.size(), std::byte{0x55}), whole(back);
  for (std::int64_t i = 0; i < count; ++i)
    for (const std::int64_t offset : offsets) {
      const auto at = static_cast<std::size_t>(i * type->extent + offset);
      whole[at] = memory[at];
    }
  Unpack(packed, 0, {back.data(), count, type});
  ASSERT_TRUE(back == whole);
}

void AddBytes(std::vector<std::int64_t>* offsets, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) offsets->push_back(first + i);
}

// This runs the loops for pieces of one size: strided, in columns, in grids and listed.
TEST(Pieces, OfEverySize) {
  Datatype* byte = FindDatatype(MPI_BYTE);
  for (std::int64_t bytes = 1; bytes <= 200; ++bytes) {
    SCOPED_TRACE(bytes);
    const std::int64_t stride = bytes + 3;
    std::vector<std::int64_t> line, plane, list;
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < 21; ++i) {
      AddBytes(&line, i * stride, bytes);
      const std::int64_t place = i * (stride + i % 5 + 5);
      parts.push_back(Part{byte, place, bytes});
      AddBytes(&list, place, bytes);
    }
    Datatype* vector = MakeVector(21, bytes, stride, byte);
    ExpectCopies(vector, line, 1);
    ExpectCopies(vector, line, 5);
    Datatype* resized = MakeResized(0, 22 * stride, vector);
    Datatype* grid = MakeContiguous(6, resized);
    for (std::int64_t i = 0; i < 6; ++i)
      for (const std::int64_t offset : line) plane.push_back(i * 22 * stride + offset);
    ExpectCopies(grid, plane, 2);
    Datatype* two = MakeVector(2, bytes, stride, byte);
    ExpectCopies(two, {line.begin(), line.begin() + 2 * bytes}, 50);
    Datatype* listed = MakeBlocks(parts);
    ExpectCopies(listed, list, 3);
    for (Datatype* type : {vector, resized, grid, two, listed}) Release(type);
  }
}

// This runs the loop for grids of wide pieces that no cache holds, from either end.
TEST(Pieces, OfAGridInMemory) {
  constexpr std::int64_t kPlanes = 700;
  Datatype* byte = FindDatatype(MPI_BYTE);
  for (const std::int64_t bytes : {32, 48, 64, 100, 200}) {
    SCOPED_TRACE(bytes);
    const std::int64_t row = 2 * bytes, plane = 16 * row;
    Datatype* box = MakeVector(7, bytes, row, byte);
    for (const std::int64_t extent : {plane, -plane}) {
      Datatype* resized = MakeResized(0, extent, box);
      Datatype* grid = MakeContiguous(kPlanes, resized);
      std::vector<std::int64_t> offsets;
      const std::int64_t first = extent < 0 ? (kPlanes - 1) * plane : 0;
      for (std::int64_t i = 0; i < kPlanes; ++i)
        for (std::int64_t k = 0; k < 7; ++k)
          AddBytes(&offsets, first + i * extent + k * row, bytes);
      Datatype* placed = MakeBlocks({Part{grid, first, 1}});
      Datatype* whole = MakeResized(0, kPlanes * plane, placed);
      ExpectCopies(whole, offsets, 1);
      for (Datatype* type : {resized, grid, placed, whole}) Release(type);
    }
    Release(box);
  }
}

// This runs the loops for pieces of sizes that change, in every range of sizes.
TEST(Pieces, OfChangingSizes) {
  Datatype* byte = FindDatatype(MPI_BYTE);
  for (const auto& [least, most] :
       {std::pair{1, 5}, {2, 8}, {4, 16}, {8, 32}, {16, 64}, {32, 128}, {1, 300}, {30, 40}}) {
    std::vector<Part> parts;
    std::vector<std::int64_t> offsets;
    std::int64_t place = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
      const std::int64_t bytes = least + i * 7 % (most - least + 1);
      parts.push_back(Part{byte, place, bytes});
      AddBytes(&offsets, place, bytes);
      place += bytes + 1 + i % 3;
    }
    Datatype* type = MakeBlocks(parts);
    ExpectCopies(type, offsets, 1);
    ExpectCopies(type, offsets, 4);
    Release(type);
    Datatype* few = MakeBlocks({parts.begin(), parts.begin() + 5});
    std::int64_t bytes = few->size;
    ExpectCopies(few, {offsets.begin(), offsets.begin() + bytes}, 30);
    Release(few);
  }
}

TEST(Construct, SaysWhenTheResultDoesNotFit) {
  Datatype* number = FindDatatype(MPI_DOUBLE);
  EXPECT_EQ(MakeContiguous(std::int64_t{1} << 60, number), nullptr);
  EXPECT_EQ(MakeVector(std::int64_t{1} << 40, 1, std::int64_t{1} << 30, number), nullptr);
  EXPECT_EQ(MakeBlocks({Part{number, INT64_MAX - 4, 1}}), nullptr);
  EXPECT_EQ(MakeResized(INT64_MAX, 1, number), nullptr);
  const Dimension box[] = {{std::int64_t{1} << 31, 1, 0}, {std::int64_t{1} << 31, 1, 0}};
  EXPECT_EQ(MakeSubarray(box, number), nullptr);
  Datatype* large = MakeContiguous(std::int64_t{1} << 59, number);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->size, std::int64_t{1} << 62);
  Release(large);
}

}  // namespace
}  // namespace lamina::datatype
