// SPDX-License-Identifier: BSD-3-Clause
// Goal:   text helpers keep every byte they should and refuse every byte they should not accept.
// Method: tables of inputs with their answers, edges first.
#include "runtime/base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lamina {
namespace {

TEST(Format, GivesAnyLength) {
  EXPECT_EQ(Format("%s", ""), "");
  EXPECT_EQ(Format("%d of %s", 3, "x"), "3 of x");
  EXPECT_EQ(Format("%0512d", 1).size(), 512u);
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(Split("", ':'), (std::vector<std::string_view>{""}));
  EXPECT_EQ(Split("a", ':'), (std::vector<std::string_view>{"a"}));
  EXPECT_EQ(Split(":a::b:", ':'), (std::vector<std::string_view>{"", "a", "", "b", ""}));
}

TEST(Trim, TakesBlanksFromBothEndsOnly) {
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" \t \r"), "");
  EXPECT_EQ(Trim(" a b\t\r"), "a b");
}

TEST(ParseInteger, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseInteger("0"), 0);
  EXPECT_EQ(ParseInteger("-17"), -17);
  EXPECT_EQ(ParseInteger("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", " 1", "1 ", "+1", "1k", "0x10", "9223372036854775808", "-", "--1"})
    EXPECT_EQ(ParseInteger(bad), std::nullopt) << bad;
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> options{"hostfile", "host", "timeout", "tag-output"};
  EXPECT_EQ(Nearest("hostfil", options), "hostfile");    // a letter missing
  EXPECT_EQ(Nearest("hostfilee", options), "hostfile");  // one too many
  EXPECT_EQ(Nearest("timeuot", options), "timeout");     // two swapped
  EXPECT_EQ(Nearest("tag_output", options), "tag-output");
  EXPECT_EQ(Nearest("timeout", options), "timeout");
}

TEST(Nearest, SaysNothingRatherThanNonsense) {
  EXPECT_EQ(Nearest("zebra", {"hostfile", "host"}), "");
  EXPECT_EQ(Nearest("np", {}), "");
  EXPECT_EQ(Nearest("", {"host"}), "");
}

TEST(RankWords, AreShort) {
  EXPECT_EQ(RankWords({3}), "rank 3");
  EXPECT_EQ(RankWords({4, 3}), "ranks 3 and 4");
  EXPECT_EQ(RankWords({0, 1, 2, 5, 7, 8, 9, 10}), "ranks 0-2, 5 and 7-10");
}

}  // namespace
}  // namespace lamina
