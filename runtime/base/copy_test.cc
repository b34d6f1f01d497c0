// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a short copy moves what it should and touches nothing else, whatever its length.
// Method: every length from a block of exactly that size (ASan sees reads beyond it) into a larger
//         one, whose other bytes are looked at.
#include "runtime/base/copy.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace lamina {
namespace {

TEST(Copy, MovesEveryLengthAndTouchesNothingElse) {
  for (std::size_t bytes = 0; bytes <= kShortCopyBytesMax + 20; ++bytes) {
    const auto from = std::make_unique<std::byte[]>(bytes);
    std::vector<std::byte> to(bytes + 8, std::byte{0xcc});
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i + 1);
    CopyMostlyShort(to.data(), from.get(), bytes);
    for (std::size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], i < bytes ? static_cast<std::byte>(i + 1) : std::byte{0xcc}) << bytes;
  }
}

}  // namespace
}  // namespace lamina
