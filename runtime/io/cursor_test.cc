// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a cursor finds exactly the data bytes of a layout and its copies, from every position and
//         in runs of every length, and tells how many lie in front of an offset; a view refuses
//         layouts that go back or overlap.
// Method: random ascending types beside a naive list of byte offsets.
#include "runtime/io/cursor.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "runtime/datatype/construct.h"
#include "runtime/datatype/definition.h"
#include "runtime/io/ascending_types.h"
#include "runtime/io/view.h"

namespace lamina::io {
namespace {

using datatype::Datatype;
using datatype::Part;

class CursorTest : public testing::TestWithParam<unsigned> {};

TEST_P(CursorTest, FindsEveryByte) {
  Ascending generator(GetParam());
  for (int round = 0; round < 20; ++round) {
    Datatype* type = generator.Make(static_cast<int>(generator.Between(0, 3)));
    datatype::Commit(type);
    const std::int64_t base = generator.Between(0, 100);
    std::vector<std::int64_t> offsets;
    for (int tile = 0; tile < 3; ++tile) List(*type, base + tile * type->extent, &offsets);
    const auto bytes = static_cast<std::int64_t>(offsets.size());
    Cursor cursor(*type->layout, type->extent, base);
    for (int i = 0; i < 20; ++i) {
      std::int64_t position = generator.Between(0, bytes - 1);
      cursor.Seek(position);
      for (int runs = 0; runs < 100 && position < bytes; ++runs) {
        const std::int64_t most = generator.Between(1, 30);
        const io::Run run = cursor.Next(most);
        ASSERT_GT(run.bytes, 0);
        ASSERT_LE(run.bytes, most);
        for (std::int64_t k = 0; k < run.bytes && position + k < bytes; ++k)
          ASSERT_EQ(run.offset + k, offsets[static_cast<std::size_t>(position + k)]);
        position += run.bytes;
        // A run ends only where the data does or where it was cut.
        if (run.bytes < most && position < bytes) {
          ASSERT_NE(offsets[static_cast<std::size_t>(position)], run.offset + run.bytes);
        }
      }
    }
    for (int i = 0; i < 300; ++i) {
      const std::int64_t offset = generator.Between(0, offsets.back());
      ASSERT_EQ(cursor.PositionAt(offset),
                std::lower_bound(offsets.begin(), offsets.end(), offset) - offsets.begin())
          << "offset " << offset;
    }
    datatype::Release(type);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CursorTest, testing::Range(1u, 21u));

TEST(Cursor, AVectorOfManyRunsCostsNothing) {
  constexpr std::int64_t kRuns = std::int64_t{1} << 40;
  Datatype* type = datatype::MakeVector(kRuns, 1, 8, datatype::FindDatatype(MPI_INT));
  datatype::Commit(type);
  Cursor cursor(*type->layout, type->extent, 0);
  cursor.Seek(4 * (kRuns - 1));
  EXPECT_EQ(cursor.Next(100).offset, 8 * (kRuns - 1));
  EXPECT_EQ(cursor.PositionAt(8 * (kRuns / 2)), 4 * (kRuns / 2));
  datatype::Release(type);
}

int ClassOf(Datatype* etype, Datatype* filetype, bool writable) {
  ViewArguments arguments;
  arguments.etype = etype;
  arguments.filetype = filetype;
  arguments.datarep = FindDatarep("native");
  arguments.writable = writable;
  View* view = nullptr;
  const Failure failure = MakeView(arguments, &view);
  if (view != nullptr) Release(view);
  return failure.error_class;
}

TEST(View, RefusesWhatGoesBackOrOverlaps) {
  Datatype* const number = datatype::FindDatatype(MPI_INT);
  struct Case {
    std::vector<Part> parts;
    std::int64_t extent;
    int when_written;
    int when_read;
  } const cases[] = {
      {{{number, 0}, {number, 8}}, 12, MPI_SUCCESS, MPI_SUCCESS},
      {{{number, 8}, {number, 0}}, 12, MPI_ERR_IO, MPI_ERR_IO},
      {{{number, 0}, {number, 0}}, 4, MPI_ERR_IO, MPI_SUCCESS},
      {{{number, 0}, {number, 8}}, 8, MPI_SUCCESS, MPI_SUCCESS},
      {{{number, 0}, {number, 8}}, 4, MPI_SUCCESS, MPI_SUCCESS},
      {{{number, -4}, {number, 8}}, 16, MPI_ERR_IO, MPI_ERR_IO},
      {{{number, 0}, {number, 7}}, 12, MPI_ERR_ARG, MPI_ERR_ARG},
  };
  for (const Case& one : cases) {
    Datatype* blocks = datatype::MakeBlocks(one.parts);
    Datatype* type = datatype::MakeResized(0, one.extent, blocks);
    datatype::Commit(type);
    EXPECT_EQ(ClassOf(number, type, true), one.when_written) << &one - cases;
    EXPECT_EQ(ClassOf(number, type, false), one.when_read) << &one - cases;
    datatype::Release(type);
    datatype::Release(blocks);
  }
}

// The second copy of such a type would overlap the first, so there is only one.
TEST(View, HasOneCopyOfATypeThatOverlapsItself) {
  Datatype* const number = datatype::FindDatatype(MPI_INT);
  Datatype* blocks = datatype::MakeBlocks({{{number, 0}, {number, 8}}});
  Datatype* type = datatype::MakeResized(0, 4, blocks);
  datatype::Commit(type);
  ViewArguments arguments;
  arguments.displacement = 100;
  arguments.etype = number;
  arguments.filetype = type;
  arguments.datarep = FindDatarep("native");
  arguments.writable = true;
  View* view = nullptr;
  ASSERT_TRUE(MakeView(arguments, &view).ok());
  EXPECT_TRUE(view->Has(8));
  EXPECT_FALSE(view->Has(9));
  EXPECT_EQ(view->OffsetAt(4), 108);
  EXPECT_EQ(view->PositionAt(108), 4);
  EXPECT_EQ(view->PositionAt(110), 6);
  EXPECT_EQ(view->PositionAt(1000), 8);
  Release(view);
  datatype::Release(type);
  datatype::Release(blocks);
}

}  // namespace
}  // namespace lamina::io
