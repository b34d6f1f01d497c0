// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a process has one number for good, whoever names it first, and none where it has no
//         business.
// Method: names at random from a seed against a plain list.
#include "runtime/p2p/peer_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace lamina::p2p {
namespace {

constexpr std::uint32_t kJob = 7, kRanks = 3;

transport::ProcessName Name(std::uint32_t job, std::uint32_t rank) {
  return transport::ProcessName{std::uint64_t{job} << 32 | rank};
}

TEST(PeerTableTest, OwnRanksAreTheirNumbers) {
  PeerTable table(kJob, kRanks);
  EXPECT_EQ(table.Identify(Name(kJob, 2)), PeerId{2});
  EXPECT_EQ(table.Identify(Name(kJob, 3)), kNoPeer);
  EXPECT_EQ(table.NameOf(PeerId{1}), Name(kJob, 1));
  EXPECT_FALSE(table.IsOfOtherJob(PeerId{2}));
}

TEST(PeerTableTest, StrangersAreTakenOnlyOnceItIsOpen) {
  PeerTable table(kJob, kRanks);
  EXPECT_EQ(table.Identify(Name(8, 0)), kNoPeer);
  table.Open();
  EXPECT_EQ(table.Identify(Name(8, 0)), PeerId{kRanks});
  EXPECT_EQ(table.Identify(Name(kJob, 3)), kNoPeer);
}

TEST(PeerTableTest, NumbersStay) {
  PeerTable table(kJob, kRanks);
  table.Open();
  std::mt19937 random(4711);
  std::map<transport::ProcessName, PeerId> known;
  for (int i = 0; i < 2000; ++i) {
    const transport::ProcessName name = Name(8 + random() % 5, random() % 40);
    const PeerId peer = table.Identify(name);
    const auto [place, is_new] = known.try_emplace(name, peer);
    EXPECT_EQ(place->second, peer);
    EXPECT_EQ(table.NameOf(peer), name);
    EXPECT_TRUE(table.IsOfOtherJob(peer));
  }
  EXPECT_EQ(table.end(), kRanks + known.size());
}

TEST(PeerTableTest, TheLastGroupTakesTheCardAway) {
  PeerTable table(kJob, kRanks);
  table.Open();
  const PeerId peer = table.Identify(Name(8, 0));
  table.SetCard(peer, {std::byte{1}});
  table.Retain(peer);
  table.Retain(peer);
  EXPECT_TRUE(table.Holds(8, {}));
  EXPECT_FALSE(table.Holds(9, {}));
  const std::vector<PeerId> beside{peer};
  EXPECT_TRUE(table.Holds(8, beside));
  EXPECT_FALSE(table.Release(peer));
  EXPECT_FALSE(table.Holds(8, beside));
  EXPECT_EQ(table.CardOf(peer).size(), 1u);
  EXPECT_TRUE(table.Release(peer));
  EXPECT_TRUE(table.CardOf(peer).empty());
  EXPECT_FALSE(table.Holds(8, {}));
  EXPECT_EQ(table.Identify(Name(8, 0)), peer);
}

}  // namespace
}  // namespace lamina::p2p
