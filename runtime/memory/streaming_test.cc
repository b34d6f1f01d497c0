// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a copy past the caches copies what it is told to, and nothing beside it.
// Method: all lengths up to a few lines, from and to many places in a line, which is what is stored
//         at once.
#include "runtime/memory/streaming.h"

#include <gtest/gtest.h>

#include <array>

namespace lamina::memory {
namespace {

TEST(StreamingCopy, CopiesEveryLengthFromAndToManyPlaces) {
  constexpr std::size_t kPlaces = 64, kStep = 7, kLengths = 4 * kPlaces;
  constexpr std::byte kUntouched{0xff};
  std::array<std::byte, kPlaces + kLengths> from, to;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
  for (std::size_t source = 0; source < kPlaces; source += kStep)
    for (std::size_t target = 0; target < kPlaces; target += kStep)
      for (std::size_t bytes = 0; bytes < kLengths; ++bytes) {
        to.fill(kUntouched);
        StreamingCopy(&to[target], &from[source], bytes);
        for (std::size_t i = 0; i < to.size(); ++i) {
          const bool copied = i >= target && i < target + bytes;
          ASSERT_EQ(to[i], copied ? from[source + i - target] : kUntouched)
              << bytes << " bytes from " << source << " to " << target << ", byte " << i;
        }
      }
}

}  // namespace
}  // namespace lamina::memory
