// SPDX-License-Identifier: BSD-3-Clause
// Goal:   waiting ends after its limit, and a pause of the whole process does not use it up.
// Method: a clock that the test sets.
#include "runtime/base/patience.h"

#include <gtest/gtest.h>

namespace lamina {
namespace {

TEST(Patience, EndsAfterItsLimit) {
  std::uint64_t now_ms = 1000;
  Patience patience(120, now_ms);
  while (const int wait_ms = patience.NextMs(now_ms)) now_ms += static_cast<std::uint64_t>(wait_ms);
  EXPECT_EQ(now_ms, 1120u);
  EXPECT_EQ(patience.NextMs(now_ms), 0);
}

TEST(Patience, APauseDoesNotUseItUp) {
  Patience patience(1000, 0);
  const int wait_ms = patience.NextMs(3'600'000);
  EXPECT_GT(wait_ms, 0);
  EXPECT_GT(patience.NextMs(7'200'000), 0);
}

TEST(Patience, OfNothingIsNone) { EXPECT_EQ(Patience(0, 7).NextMs(7), 0); }

}  // namespace
}  // namespace lamina
