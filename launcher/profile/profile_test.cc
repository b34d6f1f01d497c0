// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what ranks have counted becomes the right numbers, sentences, page and file, and bytes
//         that make no sense change nothing.
// Method: ranks made by hand, whose balance is known by construction.
#include "launcher/profile/profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/profile/lines.h"
#include "launcher/profile/report.h"
#include "launcher/profile/text.h"
#include "runtime/base/call_names.h"
#include "runtime/base/profile_table.h"

namespace lamina::launcher {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A program whose code lies between these addresses, so much above those in its file.
constexpr std::uint64_t kMovedBy = 0x1000;
const ProfileModule kProgram{0x2000, 0x9000, kMovedBy, 0, "/bin/a \"b\"\xff<c>"};

ProfileRow RowOf(Call call, std::uint64_t place, std::uint64_t inside_ns, std::uint64_t waited_ns) {
  return {.key = ProfileKey(call, reinterpret_cast<const void*>(place)),
          .calls = 2,
          .inside_ns = inside_ns,
          .waited_ns = waited_ns,
          .longest_ns = inside_ns,
          .sent_bytes = 8,
          .received_bytes = 16,
          .for_senders_ns = 0,
          .for_receivers_ns = 0,
          .for_members_ns = waited_ns};
}

ProfileCopy CopyOf(std::uint64_t wall_ns, std::vector<ProfileRow> rows = {}) {
  ProfileCopy copy;
  copy.head.wall_ns = wall_ns;
  copy.head.peak_kib = 2048;
  copy.head.cpus[0] = 0x10f;
  copy.rows = std::move(rows);
  copy.modules = {kProgram};
  return copy;
}

// Rank 1 computes for two seconds, rank 0 for one and waits for the other.
JobProfile TwoToOne() {
  JobProfile profile;
  profile.command = "./a \"b\" <c>";
  profile.ranks.resize(2);
  const ProfileCopy waits =
      CopyOf(2 * kSecondNs, {RowOf(Call::MPI_Barrier, 0x2801, kSecondNs, kSecondNs)});
  EXPECT_TRUE(DecodeRank(Encode(waits), &profile.ranks[0]));
  EXPECT_TRUE(DecodeRank(Encode(CopyOf(2 * kSecondNs)), &profile.ranks[1]));
  return profile;
}

TEST(Profile, CallsFromSeveralPlacesAreAddedUp) {
  RankProfile rank;
  ASSERT_TRUE(DecodeRank(Encode(CopyOf(kSecondNs, {RowOf(Call::MPI_Send, 0x3000, 100, 0),
                                                   RowOf(Call::MPI_Send, 0xffff, 300, 50)})),
                         &rank));
  EXPECT_EQ(rank.functions.at("MPI_Send"), (CallCounts{4, 400, 50, 300, 16, 32, 0, 0, 50}));
  EXPECT_EQ(rank.ComputedNs(), kSecondNs - 400);
  // A place is that of the call, in the file; what is in no file is a place that is not known.
  const CodePlace place{kProgram.path, 0, 0x3000 - kMovedBy - 1};
  EXPECT_EQ(rank.sites.size(), 2u);
  EXPECT_EQ(rank.sites.at({"MPI_Send", place}).inside_ns, 100u);
  EXPECT_EQ(rank.sites.at({"MPI_Send", {}}).inside_ns, 300u);
  EXPECT_EQ(NameOf(place, {{place, "/src/a.c:7"}}), "a.c:7");
  EXPECT_EQ(NameOf(place, {}), "a \"b\"\xff<c>+0x1fff");
  EXPECT_EQ(NameOf({}, {}), "");
}

TEST(Profile, TheFunctionARankEndedInCounts) {
  ProfileCopy copy = CopyOf(kSecondNs);
  copy.head.open_call = static_cast<std::uint64_t>(Call::MPI_Recv);
  copy.head.open_place = 0x3001;
  copy.head.open_ns = kSecondNs / 4;
  RankProfile rank;
  ASSERT_TRUE(DecodeRank(Encode(copy), &rank));
  EXPECT_EQ(rank.open_call, "MPI_Recv");
  EXPECT_EQ(rank.open_place.offset, 0x2000u);
  EXPECT_EQ(rank.functions.at("MPI_Recv").calls, 1u);
  EXPECT_EQ(rank.ComputedNs(), kSecondNs / 4 * 3);
}

TEST(Profile, NonsenseChangesNothing) {
  const std::string copy = Encode(CopyOf(kSecondNs, {RowOf(Call::MPI_Send, 0, 1, 0)}));
  RankProfile rank;
  for (std::size_t bytes = 0; bytes < copy.size(); ++bytes)
    EXPECT_FALSE(DecodeRank(copy.substr(0, bytes), &rank)) << bytes;
  const std::string unknown = Encode(CopyOf(kSecondNs, {RowOf(static_cast<Call>(1023), 0, 1, 0)}));
  EXPECT_FALSE(DecodeRank(unknown, &rank));
  EXPECT_FALSE(rank.uses_mpi);
}

TEST(Profile, BalanceIsThatOfPop) {
  const Balance balance = BalanceOf(TwoToOne());
  EXPECT_DOUBLE_EQ(balance.load, 0.75);
  EXPECT_DOUBLE_EQ(balance.communication, 1);
  EXPECT_DOUBLE_EQ(balance.parallel, 0.75);
  EXPECT_EQ(balance.busiest, 1u);
  EXPECT_EQ(BalanceOf({}).parallel, 0);
}

TEST(Profile, TheFactsNameShareRankAndFunction) {
  const std::vector<std::string> facts = TellingFacts(TwoToOne());
  ASSERT_EQ(facts.size(), 3u);
  EXPECT_EQ(facts[0], "MPI 25 % of the time");
  EXPECT_EQ(facts[1], "rank 1 computes 1.3 times as long as the mean");
  EXPECT_EQ(facts[2], "100 % of the waiting is in MPI_Barrier at a \"b\"\xff<c>+0x1800");
  EXPECT_EQ(TellingFacts({}), std::vector<std::string>{"no rank used MPI"});
}

TEST(Profile, PageAndFileQuoteWhatThePersonWrote) {
  const std::string page = ProfilePage(TwoToOne());
  EXPECT_NE(page.find("<h1>Profile of ./a &quot;b&quot; &lt;c&gt;</h1>"), std::string::npos);
  EXPECT_NE(page.find("load balance 75 %"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("a &quot;b&quot;\xef\xbf\xbd&lt;c&gt;+0x1800</span>"), std::string::npos);
  const std::string json = ProfileJson(TwoToOne());
  EXPECT_NE(json.find(R"("command": "./a \"b\" \u003cc\u003e")"), std::string::npos);
  EXPECT_NE(json.find(R"("place": "a \"b\")"
                      "\xef\xbf\xbd"
                      R"(\u003cc\u003e+0x1800")"),
            std::string::npos);
}

TEST(Profile, WaitingIsToldByItsReason) {
  const std::vector<WaitPattern> patterns = PatternsOf(TwoToOne());
  ASSERT_EQ(patterns.size(), 3u);
  EXPECT_EQ(patterns[0].all_ns + patterns[1].all_ns, 0u);
  EXPECT_EQ(patterns[2].all_ns, kSecondNs);
  EXPECT_EQ(patterns[2].site.function, "MPI_Barrier");
  EXPECT_EQ(patterns[2].rank, 0u);
}

TEST(Profile, AMatrixOfManyRanksHasFewCells) {
  JobProfile profile;
  profile.ranks.resize(1000);
  for (std::uint32_t rank = 0; rank < 1000; ++rank)
    profile.ranks[rank].sent[(rank + 1) % 1000] = {1, 10, 0, 0, "shm"};
  profile.ranks[0].sent[4095] = {2, 20, 0, 0, "ucx"};
  const Matrix matrix = MatrixOf(profile);
  EXPECT_EQ(matrix.ranks_per_cell, 16u);
  EXPECT_EQ(matrix.width, 63u);
  EXPECT_EQ(matrix.cells[0].bytes, 150u);
  EXPECT_EQ(matrix.cells[1].bytes, 10u);
  EXPECT_EQ(matrix.outside.bytes, 20u);
  EXPECT_LT(ProfilePage(profile).size(), 3u << 20);
  EXPECT_EQ(MatrixOf(profile, "ucx").cells[0].bytes, 0u);
  EXPECT_EQ(MatrixOf(profile, "ucx").outside.bytes, 20u);
  EXPECT_EQ(CarriersOf(profile).at("shm").messages, 1000u);
  EXPECT_TRUE(
      MatrixCsv(profile).starts_with("from,to,transport,messages,bytes,own_messages,own_bytes\r\n"
                                     "0,1,shm,1,10,0,0\r\n0,outside,ucx,2,20,0,0\r\n"));
  profile.ranks.resize(1);
  EXPECT_EQ(MatrixOf(profile).width, 1u);
  EXPECT_EQ(MatrixOf({}).width, 0u);
}

TEST(Profile, SizesGoFromTheSmallestToTheLargest) {
  ProfileCopy copy = CopyOf(kSecondNs);
  copy.sizes.resize(ProfileTable::kSizes);
  copy.sizes[4] = {3, 30, 0, 0};
  copy.sizes[64] = {0, 0, 1, UINT64_MAX};
  JobProfile profile;
  profile.ranks.resize(2);
  for (RankProfile& rank : profile.ranks) EXPECT_TRUE(DecodeRank(Encode(copy), &rank));
  const std::vector<SizeClass> sizes = SizesOf(profile);
  ASSERT_EQ(sizes.size(), 61u);
  EXPECT_EQ(sizes[0].from_bytes, 8u);
  EXPECT_EQ(sizes[0].eager, 6u);
  EXPECT_EQ(sizes[60].from_bytes, std::uint64_t{1} << 63);
  EXPECT_EQ(sizes[60].rendezvous, 2u);
  EXPECT_TRUE(SizesOf({}).empty());
}

TEST(Profile, MemoryAndCpusAreTold) {
  const JobProfile profile = TwoToOne();
  EXPECT_EQ(profile.ranks[0].cpus, "0-3,8");
  EXPECT_EQ(profile.ranks[0].peak_bytes, std::uint64_t{2} << 20);
  const std::string page = ProfilePage(profile);
  EXPECT_NE(page.find("at most 2 MiB in rank 0, 2 MiB in the mean"), std::string::npos);
  EXPECT_NE(page.find("ranks of a host share CPUs"), std::string::npos);
}

TEST(Profile, RegionsOfAllRanksAreAddedUp) {
  JobProfile profile;
  profile.ranks.resize(3);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ProfileCopy copy = CopyOf(kSecondNs);
    copy.regions = {{"<solve>", 2, 100 + rank, 50, 20, 60, 0, 0, 0}};
    EXPECT_TRUE(DecodeRank(Encode(copy), &profile.ranks[rank]));
  }
  const std::vector<NamedRegion> regions = LargestRegions(profile);
  ASSERT_EQ(regions.size(), 1u);
  EXPECT_EQ(regions[0].second.times, 4u);
  EXPECT_EQ(regions[0].second.inside_ns, 201u);
  EXPECT_EQ(regions[0].second.rank, 1u);
  EXPECT_EQ(regions[0].second.ranks, 2u);
  EXPECT_NE(ProfilePage(profile).find("<td>&lt;solve&gt;</td>"), std::string::npos);
}

TEST(Text, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(JsonText("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  for (const std::string_view bad :
       {"\xff", "\xc0", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80"}) {
    EXPECT_NE(HtmlText(bad).find("\xef\xbf\xbd"), std::string::npos);
    EXPECT_EQ(HtmlText(bad).find(bad.substr(0, 1) == "\xe2" ? "\xe2" : bad), std::string::npos);
  }
  EXPECT_EQ(JsonText(std::string_view("\n\0\x7f", 3)), "\"\\u000a\\u0000\\u007f\"");
}

TEST(Text, NumbersOfAnySizeHaveAUnit) {
  EXPECT_EQ(SizeName(0), "0 B");
  EXPECT_EQ(SizeName(1023), "1023 B");
  EXPECT_EQ(SizeName(4096), "4 KiB");
  EXPECT_EQ(SizeName(std::uint64_t{5} << 40), "5 TiB");
  EXPECT_EQ(SizeName(UINT64_MAX), "16 EiB");
  EXPECT_EQ(DurationName(250), "250 ns");
  EXPECT_EQ(DurationName(400'000'000), "400 ms");
  EXPECT_EQ(DurationName(UINT64_MAX), "1.845e+10 s");
}

TEST(Lines, AreReadAsEitherProgramPrintsThem) {
  EXPECT_EQ(LinesIn("/src/a.c:12\n/src/a.c:12:5\n/src/a.c:12 (discriminator 3)\n"),
            (std::vector<std::string>(3, "/src/a.c:12")));
  EXPECT_EQ(LinesIn("??:0\n??:?\n/src/a.c:?\n\n/a:b/c.c:7\nno"),
            (std::vector<std::string>{"", "", "", "", "/a:b/c.c:7", ""}));
  EXPECT_TRUE(LinesIn("").empty());
}

TEST(Lines, AFileThatIsNotThereHasNone) {
  EXPECT_TRUE(FindLines({{"/nowhere/at/all", 0, 1}, {"", 0, 2}}, std::chrono::seconds(2)).empty());
}

}  // namespace
}  // namespace lamina::launcher
