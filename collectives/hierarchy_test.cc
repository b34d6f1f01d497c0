// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a partition answers alike however it is stored, and needs no memory per rank where ranks
//         are in blocks.
// Method: compare with plain lists, for blocks, unequal ranges, cyclic and random placements.
#include "collectives/hierarchy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace lamina::collective {
namespace {

Partition Of(const std::vector<std::uint64_t>& names) {
  PartitionBuilder builder;
  for (const std::uint64_t name : names) builder.Add(name);
  return builder.Finish();
}

void Check(const Partition& partition, const std::vector<std::uint64_t>& names) {
  std::map<std::uint64_t, Rank> numbers;
  std::vector<std::vector<Rank>> groups;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const auto [at, is_new] = numbers.try_emplace(names[rank], static_cast<Rank>(groups.size()));
    if (is_new) groups.emplace_back();
    groups[static_cast<std::size_t>(at->second)].push_back(static_cast<Rank>(rank));
  }
  ASSERT_EQ(partition.groups(), static_cast<Rank>(groups.size()));
  ASSERT_EQ(partition.ranks(), static_cast<Rank>(names.size()));
  Rank largest = 0;
  bool in_order = true;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<Rank>& members = groups[group];
    const auto size = static_cast<Rank>(members.size());
    largest = std::max(largest, size);
    in_order = in_order && members.back() - members.front() + 1 == size;
    EXPECT_EQ(partition.SizeOf(static_cast<Rank>(group)), size);
    for (Rank index = 0; index < size; ++index) {
      const Rank rank = members[static_cast<std::size_t>(index)];
      EXPECT_EQ(partition.Member(static_cast<Rank>(group), index), rank);
      EXPECT_EQ(partition.GroupOf(rank), static_cast<Rank>(group));
      EXPECT_EQ(partition.IndexOf(rank), index);
    }
  }
  EXPECT_EQ(partition.largest(), largest);
  EXPECT_EQ(partition.in_order(), in_order);
}

TEST(Partition, AnyPlacement) {
  for (Rank ranks = 1; ranks <= 40; ++ranks)
    for (Rank nodes = 1; nodes <= ranks; ++nodes) {
      std::vector<std::uint64_t> block, cyclic, unequal, random;
      std::uint64_t seed = 12345u + static_cast<std::uint64_t>(ranks);
      for (Rank rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<std::uint64_t>(rank);
        const auto n = static_cast<std::uint64_t>(nodes);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        block.push_back(700 - r / n);
        cyclic.push_back(r % n);
        unequal.push_back(r * r / (n * n));
        random.push_back((seed >> 33) % n);
      }
      for (const auto& names : {block, cyclic, unequal, random}) Check(Of(names), names);
      Check(Partition::Blocks(ranks, nodes), block);
    }
}

TEST(Hierarchy, TrivialLevelsAreLeftOut) {
  Hierarchy hierarchy;
  hierarchy.Add("near", Partition::Blocks(8, 1), {});  // every rank is alone
  hierarchy.Add("near", Partition::Blocks(8, 2), {});
  hierarchy.Add("node", Partition::Blocks(8, 2), {});  // the same groups once more
  hierarchy.Add("node", Partition::Blocks(8, 4), {});
  hierarchy.Add("switch", Partition::Blocks(8, 8), {});  // all ranks in one group
  ASSERT_EQ(hierarchy.levels.size(), 2u);
  EXPECT_EQ(hierarchy.levels[0].groups.groups(), 4);
  EXPECT_STREQ(hierarchy.levels[1].name, "node");
}

}  // namespace
}  // namespace lamina::collective
