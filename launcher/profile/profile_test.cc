// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what ranks have counted becomes the right numbers, sentences, page and file, and bytes
//         that make no sense change nothing.
// Method: ranks made by hand, whose balance is known by construction.
#include "launcher/profile/profile.h"

#include <gtest/gtest.h>

#include <string>

#include "launcher/profile/report.h"
#include "runtime/base/call_names.h"
#include "runtime/base/profile_table.h"

namespace lamina::launcher {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

void Put(std::uint64_t word, std::string* bytes) {
  for (int i = 0; i < 64; i += 8) bytes->push_back(static_cast<char>(word >> i));
}

std::string Copy(std::uint64_t wall_ns, Call open_call, std::uint64_t open_ns) {
  std::string copy;
  for (const std::uint64_t word : {wall_ns, static_cast<std::uint64_t>(open_call), open_ns})
    Put(word, &copy);
  return copy;
}

void PutRow(Call call, std::uint64_t place, std::uint64_t inside_ns, std::uint64_t waited_ns,
            std::string* copy) {
  for (const std::uint64_t word :
       {ProfileKey(call, reinterpret_cast<const void*>(place)), std::uint64_t{2}, inside_ns,
        waited_ns, inside_ns, std::uint64_t{8}, std::uint64_t{16}})
    Put(word, copy);
}

// Rank 1 computes for two seconds, rank 0 for one and waits for the other.
JobProfile TwoToOne() {
  JobProfile profile;
  profile.command = "./a \"b\" <c>";
  profile.ranks.resize(2);
  std::string waits = Copy(2 * kSecondNs, Call{}, 0);
  PutRow(Call::MPI_Barrier, 0, kSecondNs, kSecondNs, &waits);
  EXPECT_TRUE(DecodeRank(waits, &profile.ranks[0]));
  EXPECT_TRUE(DecodeRank(Copy(2 * kSecondNs, Call{}, 0), &profile.ranks[1]));
  return profile;
}

TEST(Profile, CallsFromSeveralPlacesAreAddedUp) {
  std::string copy = Copy(kSecondNs, Call{}, 0);
  PutRow(Call::MPI_Send, 0x1000, 100, 0, &copy);
  PutRow(Call::MPI_Send, 0x2000, 300, 50, &copy);
  RankProfile rank;
  ASSERT_TRUE(DecodeRank(copy, &rank));
  EXPECT_EQ(rank.functions.at("MPI_Send"), (CallCounts{4, 400, 50, 300, 16, 32}));
  EXPECT_EQ(rank.ComputedNs(), kSecondNs - 400);
}

TEST(Profile, TheFunctionARankEndedInCounts) {
  RankProfile rank;
  ASSERT_TRUE(DecodeRank(Copy(kSecondNs, Call::MPI_Recv, kSecondNs / 4), &rank));
  EXPECT_EQ(rank.open_call, "MPI_Recv");
  EXPECT_EQ(rank.functions.at("MPI_Recv").calls, 1u);
  EXPECT_EQ(rank.ComputedNs(), kSecondNs / 4 * 3);
}

TEST(Profile, NonsenseChangesNothing) {
  std::string copy = Copy(kSecondNs, Call{}, 0);
  PutRow(Call::MPI_Send, 0, 1, 0, &copy);
  std::string unknown = Copy(kSecondNs, Call{}, 0);
  PutRow(static_cast<Call>(1023), 0, 1, 0, &unknown);
  RankProfile rank;
  for (std::size_t bytes = 0; bytes < copy.size(); ++bytes) {
    if (bytes == 24) continue;  // a rank without a call
    EXPECT_FALSE(DecodeRank(copy.substr(0, bytes), &rank)) << bytes;
  }
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
  EXPECT_EQ(facts[2], "100 % of the waiting is in MPI_Barrier");
  EXPECT_EQ(TellingFacts({}), std::vector<std::string>{"no rank used MPI"});
}

TEST(Profile, PageAndFileQuoteWhatThePersonWrote) {
  const std::string page = ProfilePage(TwoToOne());
  EXPECT_NE(page.find("<h1>Profile of ./a &quot;b&quot; &lt;c&gt;</h1>"), std::string::npos);
  EXPECT_NE(page.find("load balance 75 %"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(ProfileJson(TwoToOne()).find(R"("command": "./a \"b\" \u003cc>")"), std::string::npos);
}

}  // namespace
}  // namespace lamina::launcher
