// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a process has one number for good, whoever names it first, and none where it has no
//         business.
// Method: names at random from a seed against a plain list.
#include "runtime/p2p/peer_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

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

// Goal:   all members of a communicator that spans jobs hear of the end of each of these jobs.
// Method: two groups at random; each process finds its partners by its own numbers, and the names
// of
//         these are compared.
TEST(PeerTableTest, EverybodyAttendsToEveryOtherJob) {
  std::mt19937 random(4711);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<transport::ProcessName> members[2];
    for (std::uint32_t job = 1; job <= 4; ++job)
      for (std::uint32_t rank = 0; rank < kRanks; ++rank)
        if (const auto where = random() % 3; where < 2) members[where].push_back(Name(job, rank));
    for (auto& group : members) std::shuffle(group.begin(), group.end(), random);
    std::map<transport::ProcessName, std::set<transport::ProcessName>> attended;
    for (const auto& group : members)
      for (const transport::ProcessName self : group) {
        PeerTable table(PeerTable::JobOf(self), kRanks);
        table.Open();
        std::vector<PeerId> from, to;
        for (const auto name : members[0]) from.push_back(table.Identify(name));
        for (const auto name : members[1]) to.push_back(table.Identify(name));
        for (const PeerId peer : table.Attendants(table.Identify(self), from, to))
          attended[self].insert(table.NameOf(peer));
      }
    for (const auto& [self, others] : attended)
      for (const transport::ProcessName other : others) {
        EXPECT_NE(PeerTable::JobOf(other), PeerTable::JobOf(self));
        EXPECT_TRUE(attended[other].contains(self));
      }
    for (const transport::ProcessName self : members[0])
      for (const transport::ProcessName other : members[1])
        EXPECT_TRUE(PeerTable::JobOf(other) == PeerTable::JobOf(self) ||
                    std::any_of(attended[self].begin(), attended[self].end(), [&](auto each) {
                      return PeerTable::JobOf(each) == PeerTable::JobOf(other);
                    }));
  }
}

TEST(PeerTableTest, WhoeverAttendsIsAwaitedUntilItIsHeard) {
  PeerTable table(kJob, kRanks);
  table.Open();
  const PeerId peer = table.Identify(Name(8, 0));
  table.Retain(peer);
  EXPECT_TRUE(table.Awaited().empty());
  table.Attend(peer);
  EXPECT_EQ(table.Awaited(), std::vector<PeerId>{peer});
  table.Heard(peer);
  EXPECT_TRUE(table.Awaited().empty());
  table.Release(peer);
  EXPECT_FALSE(table.IsAttended(peer));
}

}  // namespace
}  // namespace lamina::p2p
