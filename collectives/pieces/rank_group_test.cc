// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/pieces/rank_group.h"

#include <gtest/gtest.h>

#include <set>

namespace lamina::collective {
namespace {

TEST(RankGroup, ComesFromWhereItGoes) {
  for (Rank ranks = 1; ranks <= 64; ++ranks) {
    const RankGroup group(ranks);
    for (Rank gap = 0; gap < ranks; ++gap) {
      std::set<Rank> reached;
      for (Rank rank = 0; rank < ranks; ++rank) {
        const Rank ahead = group.Plus(rank, gap);
        EXPECT_EQ(group.Minus(ahead, gap), rank) << ranks << " ranks, gap " << gap;
        reached.insert(ahead);
      }
      EXPECT_EQ(reached.size(), static_cast<std::size_t>(ranks));
      EXPECT_GE(*reached.begin(), 0);
      EXPECT_LT(*reached.rbegin(), ranks);
    }
  }
}

TEST(RankGroup, MeetsInPairsWherePossible) {
  for (Rank ranks : {2, 4, 8, 64, 1 << 20}) {
    const RankGroup group(ranks);
    for (Rank gap : {1, ranks / 2, ranks - 1})
      EXPECT_EQ(group.Plus(1, gap), group.Minus(1, gap)) << ranks << " ranks, gap " << gap;
  }
}

TEST(RankGroup, StaysWithinNodesFirst) {
  const RankGroup group(12);
  for (Rank gap = 1; gap < 4; ++gap)
    for (Rank rank = 0; rank < 12; ++rank) EXPECT_EQ(group.Plus(rank, gap) / 4, rank / 4);
  for (Rank gap = 4; gap < 12; ++gap)
    for (Rank rank = 0; rank < 12; ++rank) EXPECT_NE(group.Plus(rank, gap) / 4, rank / 4);
}

TEST(RankGroup, SwapsWithEverybodyOnce) {
  for (Rank ranks : {1, 2, 3, 6, 8, 12, 15, 40}) {
    const RankGroup group(ranks);
    for (Rank rank = 0; rank < ranks; ++rank) {
      std::set<Rank> peers;
      for (Rank round = 0; round < ranks; ++round) {
        const Rank peer = group.Minus(round, rank);
        EXPECT_EQ(group.Minus(round, peer), rank) << ranks << " ranks, round " << round;
        peers.insert(peer);
      }
      EXPECT_EQ(peers.size(), static_cast<std::size_t>(ranks));
    }
  }
}

}  // namespace
}  // namespace lamina::collective
