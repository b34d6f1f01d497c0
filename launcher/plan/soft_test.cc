// SPDX-License-Identifier: BSD-3-Clause
// Goal:   -soft names the numbers that MPI-5.0, section 11.8.4, says it does.
// Method: each set is compared with one that was counted out by the standard's words.
#include "launcher/plan/soft.h"

#include <gtest/gtest.h>

#include <set>

namespace lamina::launcher {
namespace {

// Counts out triplets as the standard has it: a, a+c, ... as long as b is not passed.
std::set<std::int64_t> CountOut(const std::vector<SoftRange>& ranges) {
  std::set<std::int64_t> numbers;
  for (const SoftRange& range : ranges)
    for (std::int64_t n = range.first; range.step > 0 ? n <= range.last : n >= range.last;
         n += range.step)
      numbers.insert(n);
  return numbers;
}

TEST(Soft, LargestNumberThatFits) {
  for (const char* text : {"4", "1:8", "1:8:3", "8:1:-3", "2,4:16:4,64", "-3:3", "-5", "9:2:-7",
                           "0:0", "7:7:5", " 3 , 5:5 "}) {
    Result<std::vector<SoftRange>> ranges = ParseSoft(text);
    ASSERT_TRUE(ranges.ok()) << text;
    const std::set<std::int64_t> numbers = CountOut(*ranges);
    for (std::uint32_t most = 0; most < 70; ++most) {
      std::uint32_t wanted = 0;
      for (std::uint32_t n = 1; n <= most; ++n)
        if (numbers.contains(n)) wanted = n;
      EXPECT_EQ(LargestSoft(*ranges, most).value_or(0), wanted) << text << " of " << most;
    }
  }
}

TEST(Soft, Mistakes) {
  for (const char* text : {"", "a", "1,", "1:2:3:4", "1:", "1:8:0", "8:1", "1:8:-1", "3000000000"})
    EXPECT_FALSE(ParseSoft(text).ok()) << text;
}

TEST(Soft, MistakesHaveAPlace) {
  EXPECT_EQ(ParseSoft("1:4, x").status().message(),
            "character 6: \"x\" is neither a number nor first:last or first:last:step");
  EXPECT_EQ(ParseSoft("8:1").status().message(),
            "character 1: \"8:1\" does not lead from its first number to its last");
}

}  // namespace
}  // namespace lamina::launcher
