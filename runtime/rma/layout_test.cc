// SPDX-License-Identifier: BSD-3-Clause
// Goal:   parts lie in rank order without overlap, those without bytes between their neighbours'.
// Method: all patterns of sizes, zeros included, for 1 to 5 ranks, both arrangements.
#include "runtime/rma/layout.h"

#include <gtest/gtest.h>

namespace lamina::rma {
namespace {

TEST(Layout, PartsLieInOrder) {
  constexpr std::int64_t kSizes[] = {0, 1, 8, 4096, 5000};
  for (std::size_t ranks = 1; ranks <= 5; ++ranks)
    for (std::size_t pattern = 0; pattern < 3125; ++pattern) {
      std::vector<std::int64_t> sizes;
      for (std::size_t rank = 0, left = pattern; rank < ranks; ++rank, left /= 5)
        sizes.push_back(kSizes[left % 5]);
      for (const Arrangement arrangement : {Arrangement::kContiguous, Arrangement::kPages}) {
        const SharedLayout layout = LayOut(sizes, arrangement);
        ASSERT_TRUE(layout.fits);
        std::size_t end = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          if (arrangement == Arrangement::kContiguous)
            EXPECT_EQ(layout.offsets[rank], end);
          else
            EXPECT_EQ(layout.offsets[rank] % 4096, 0u);
          EXPECT_GE(layout.offsets[rank], end);
          end = layout.offsets[rank] + static_cast<std::size_t>(sizes[rank]);
        }
        EXPECT_GE(layout.bytes, end);
        EXPECT_LT(layout.bytes, end + 4096);
      }
    }
}

TEST(Layout, PagesMayHaveALargerAlignment) {
  const std::int64_t sizes[] = {8, 0, 70000, 1};
  const SharedLayout layout = LayOut(sizes, Arrangement::kPages, 65536);
  EXPECT_EQ(layout.offsets, (std::vector<std::size_t>{0, 65536, 65536, 196608}));
  EXPECT_EQ(layout.bytes, 262144u);
}

TEST(Layout, NoticesASumThatDoesNotFit) {
  const std::int64_t sizes[] = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(LayOut(sizes, Arrangement::kContiguous).fits);
  EXPECT_FALSE(LayOut(sizes, Arrangement::kPages).fits);
}

}  // namespace
}  // namespace lamina::rma
