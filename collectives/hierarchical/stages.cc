// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/stages.h"

#include <algorithm>

namespace lamina::collective::hierarchical {
namespace {

// Describes group `group` of `level`. On level -1 each rank is a group.
Member Describe(const Hierarchy& hierarchy, int level, Rank group, Rank root, Leader who) {
  if (level < 0) return {group, group, 1};
  const Partition& groups = hierarchy.levels[static_cast<std::size_t>(level)].groups;
  const Rank first = groups.Member(group, 0);
  const bool has_root = root != kNobody && groups.GroupOf(root) == group;
  const Rank size = groups.SizeOf(group);
  if (has_root) return {root, first, size};
  return {who == Leader::kFirst ? first : groups.Member(group, size - 1), first, size};
}

Rank GroupOf(const Hierarchy& hierarchy, int level, Rank rank) {
  return level < 0 ? rank : hierarchy.levels[static_cast<std::size_t>(level)].groups.GroupOf(rank);
}

}  // namespace

LinkModel LinkOf(const Hierarchy& hierarchy, std::size_t i) {
  LinkModel link = hierarchy.Link(i);
  if (i == 0) return link;
  const double stood_for = hierarchy.levels[i - 1].groups.largest();
  link.crowd = std::max(1.0, link.crowd / stood_for);
  link.sharers = std::max(1.0, link.sharers / stood_for);
  return link;
}

bool Stage::even() const {
  return std::all_of(members.begin(), members.end(),
                     [&](const Member& one) { return one.size == members.front().size; });
}

std::vector<Stage> Climb(const Shape& shape, Rank root, Leader who) {
  const Hierarchy& hierarchy = *shape.hierarchy;
  const int levels = static_cast<int>(hierarchy.levels.size());
  std::vector<Stage> stages;
  for (int level = 0; level <= levels; ++level) {
    Stage stage;
    stage.level = static_cast<std::size_t>(level);
    stage.link = LinkOf(hierarchy, static_cast<std::size_t>(level));
    Rank leader = kNobody;  // the rank that goes on to the next stage, or has the last word
    const auto add = [&](Rank group) {
      const Member member = Describe(hierarchy, level - 1, group, root, who);
      if (member.rank == shape.rank) stage.own = stage.size();
      if (member.rank == leader) stage.leader = stage.size();
      stage.members.push_back(member);
    };
    if (level == levels) {
      const Partition& below = hierarchy.levels.back().groups;
      const Rank deciding = who == Leader::kFirst ? 0 : below.groups() - 1;
      leader = root == kNobody ? Describe(hierarchy, level - 1, deciding, root, who).rank : root;
      for (Rank group = 0; group < below.groups(); ++group) add(group);
    } else {
      const Partition& groups = hierarchy.levels[static_cast<std::size_t>(level)].groups;
      const Rank own_group = groups.GroupOf(shape.rank);
      leader = Describe(hierarchy, level, own_group, root, who).rank;
      // Ranks come in order, so each group of the level below comes once, at its lowest rank.
      for (Rank index = 0; index < groups.SizeOf(own_group); ++index) {
        const Rank rank = groups.Member(own_group, index);
        const Rank group = GroupOf(hierarchy, level - 1, rank);
        if (Describe(hierarchy, level - 1, group, root, who).first == rank) add(group);
      }
    }
    stages.push_back(std::move(stage));
    if (!stages.back().leads()) break;
  }
  return stages;
}

bool HasRanges(const Shape& shape) {
  return shape.hierarchy != nullptr &&
         std::all_of(shape.hierarchy->levels.begin(), shape.hierarchy->levels.end(),
                     [](const Level& level) { return level.groups.in_order(); });
}

std::vector<Span> Spans(const Shape& shape) {
  std::vector<Span> spans;
  Rank below = 1, groups_below = shape.ranks;
  for (const Level& level : shape.hierarchy->levels) {
    const Rank groups = level.groups.groups();
    const Rank taking_part =
        spans.empty() ? level.groups.largest() : (groups_below + groups - 1) / groups;
    spans.push_back({taking_part, below, LinkOf(*shape.hierarchy, spans.size())});
    below = level.groups.largest();
    groups_below = groups;
  }
  spans.push_back({groups_below, below, LinkOf(*shape.hierarchy, spans.size())});
  return spans;
}

}  // namespace lamina::collective::hierarchical
