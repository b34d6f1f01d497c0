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

TEST(WholeCharacters, NeverCutsInsideOne) {
  const std::string text = "a\u00e9\u20ac\U0001f600";  // characters of 1, 2, 3 and 4 bytes
  ASSERT_EQ(text.size(), 10u);
  const std::size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t bytes = 0; bytes < std::size(kept); ++bytes)
    EXPECT_EQ(WholeCharacters(text, bytes).size(), kept[bytes]) << bytes;
  EXPECT_EQ(WholeCharacters(std::string(9, '\x80'), 5).size(), 5u);  // no UTF-8
  EXPECT_EQ(WholeCharacters("", 0), "");
}

TEST(JsonText, QuotesWhatMeansSomething) {
  EXPECT_EQ(JsonText("a\"b\\c\n<"), "\"a\\\"b\\\\c\\u000a\\u003c\"");
  EXPECT_EQ(JsonText("\u20ac"), "\"\u20ac\"");
  // Cut short, half of a pair, too long a form, a byte that begins nothing.
  for (const char* wrong : {"\xe2\x82", "\xed\xa0\x80", "\xc0\xaf", "\xff", "\xf4\x90\x80\x80"})
    EXPECT_TRUE(JsonText(wrong).starts_with("\"\xef\xbf\xbd")) << JsonText(wrong);
}

}  // namespace
}  // namespace lamina
