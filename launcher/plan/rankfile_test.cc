// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a rank file means what its writer meant, and every mistake is answered with its place.
// Method: text in, entries or the exact message out.
#include "launcher/plan/rankfile.h"

#include <gtest/gtest.h>

namespace lamina::launcher {
namespace {

std::string ErrorOf(std::string_view text) {
  Result<std::vector<RankfileEntry>> entries = ParseRankfile(text, "ranks");
  EXPECT_FALSE(entries.ok()) << text;
  return std::string(entries.status().message());
}

TEST(Rankfile, LinesInAnyOrder) {
  Result<std::vector<RankfileEntry>> entries = ParseRankfile(
      "# where everybody is\n"
      "rank 1=node02.east slot=1:0-1   # behind it\r\n"
      "\n"
      "rank 0=node01 slot=0-3,8\n"
      "  rank\t2=+n0\n",
      "ranks");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  EXPECT_EQ(*entries, (std::vector<RankfileEntry>{{0, "node01", "0-3,8", "ranks:4"},
                                                  {1, "node02.east", "1:0-1", "ranks:2"},
                                                  {2, "+n0", "", "ranks:5"}}));
}

TEST(Rankfile, MistakesNameFileAndLine) {
  const std::string expected = ": expected: rank NUMBER=HOST slot=CORES";
  EXPECT_EQ(ErrorOf("rank\n"), "ranks:1" + expected);
  EXPECT_EQ(ErrorOf("\nrank x=a\n"), "ranks:2" + expected);
  EXPECT_EQ(ErrorOf("rank 0=\n"), "ranks:1" + expected);
  EXPECT_EQ(ErrorOf("node01 slots=2\n"), "ranks:1" + expected);
  EXPECT_EQ(ErrorOf("rank 0=a slots=2\n"), "ranks:1: \"slots=2\": expected slot=CORES once");
  EXPECT_EQ(ErrorOf("rank 0=a slot=2-1\n"),
            "ranks:1: slot: \"2-1\" is not a core or a range of cores");
  EXPECT_EQ(ErrorOf("rank 0=a\nrank 0=b\n"), "ranks:2: rank 0 is there twice");
  EXPECT_EQ(ErrorOf("rank 0=a\nrank 2=b\n"), "ranks: there is no line for rank 1");
  EXPECT_EQ(ErrorOf("# none\n"), "ranks names no rank");
}

TEST(CpuPlaces, EverySpelling) {
  const auto places = [](std::string_view text) {
    Result<std::vector<CpuPlace>> parsed = ParseCpuPlaces(text);
    EXPECT_TRUE(parsed.ok()) << text;
    return parsed.ok() ? *parsed : std::vector<CpuPlace>{};
  };
  constexpr std::uint32_t kAll = CpuPlace::kAll;
  EXPECT_EQ(places("3"), (std::vector<CpuPlace>{{kAll, 3, 3}}));
  EXPECT_EQ(places("0-3,8"), (std::vector<CpuPlace>{{kAll, 0, 3}, {kAll, 8, 8}}));
  EXPECT_EQ(places("1:0-1,4"), (std::vector<CpuPlace>{{1, 0, 1}, {1, 4, 4}}));
  EXPECT_EQ(places("1:*"), (std::vector<CpuPlace>{{1, 0, kAll}}));
  EXPECT_EQ(places("*"), std::vector<CpuPlace>{});
  for (const char* wrong : {"", "a", "1-", "-1", "1:", ":1", "1:2:3", "0,*", "99999999999"})
    EXPECT_FALSE(ParseCpuPlaces(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace lamina::launcher
