// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator lie in the machine: levels of groups, from the innermost outward,
// and what a message costs on each.
//
// All ranks of a communicator have the same Hierarchy, because it is built only from what all of
// them know. So what they decide by it they decide alike.
//
// Memory: none per rank if ranks were placed in blocks; otherwise a few words for each run of
//         consecutive ranks in one group.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/base/ids.h"

namespace lamina::collective {

// What moving and combining costs between two ranks. A message of n bytes takes alpha + n * beta,
// of which its sender and its receiver are busy for `overhead` each. Reducing n bytes takes
// n * gamma. `crowd` ranks share one CPU: if there are several, a rank that a message has reached
// waits crowd * turn until it runs. `sharers` ranks share one way out, such as their node's
// network: if all of them send at once, each byte takes that many times as long. A message of more
// than `eager_bytes` asks the receiver first, which takes two more messages.
struct LinkModel {
  double alpha_us = 0.5;
  double overhead_us = 0.1;
  double beta_us_per_byte = 1e-4;
  double gamma_us_per_byte = 1e-4;
  double crowd = 1;
  double turn_us = 1.0;
  double sharers = 1;
  std::int64_t eager_bytes = 108 << 10;
};

// The ranks 0..P-1, each in one group. Groups are numbered by their lowest rank; the members of a
// group by rank.
class Partition {
 public:
  Partition() = default;
  // Groups of `each` consecutive ranks; the last may be smaller.
  static Partition Blocks(Rank ranks, Rank each);

  Rank ranks() const { return ranks_; }
  Rank groups() const { return groups_; }
  Rank largest() const { return largest_; }  // members of the largest group
  // True if every group is a range of consecutive ranks.
  bool in_order() const { return each_ > 0 || members_.empty(); }

  // All of these take O(log runs) at most.
  Rank GroupOf(Rank rank) const;
  Rank IndexOf(Rank rank) const;  // place of `rank` among the members of its group
  Rank SizeOf(Rank group) const;
  Rank Member(Rank group, Rank index) const;

 private:
  friend class PartitionBuilder;
  // Consecutive ranks of one group.
  struct Run {
    Rank first;
    Rank group;
    Rank index;  // place of `first` in its group
  };
  const Run& RunOf(Rank rank) const;
  Rank RunEnd(const Run& run) const;

  Rank ranks_ = 0;
  Rank groups_ = 0;
  Rank largest_ = 0;
  Rank each_ = 0;             // size of blocks, in which case nothing below is used; or 0
  std::vector<Run> runs_;     // sorted by rank; one for each group if groups are in order
  std::vector<Run> members_;  // sorted by (group, rank); empty if groups are in order
  std::vector<std::uint32_t> group_begins_;  // index of each group's first run in members_
};

// Makes a partition rank by rank.
class PartitionBuilder {
 public:
  // Puts the next rank into the group of this name.
  void Add(std::uint64_t group_name);
  Partition Finish();

 private:
  std::map<std::uint64_t, Rank> numbers_;  // from names to groups
  std::vector<Rank> sizes_;                // one for each group
  std::vector<Partition::Run> runs_;
  std::uint64_t last_name_ = 0;
  Rank ranks_ = 0;
};

struct Level {
  const char* name;  // what a group shares: "near", "node", "switch"
  Partition groups;
  // The link between ranks of one group that are in different groups of the level before.
  LinkModel link;
};

// Each group of a level is made of whole groups of the level before. No level is trivial: each has
// a group of several members, more than one group, and groups that are not those of another level.
struct Hierarchy {
  std::vector<Level> levels;
  LinkModel outermost;  // the link between ranks of different groups of the last level
  int node_level = -1;  // the level whose groups are the ranks of a node each, or -1

  // The link of level `i`, or the outermost one behind the last level.
  const LinkModel& Link(std::size_t i) const {
    return i < levels.size() ? levels[i].link : outermost;
  }
  // Appends a level unless it would be trivial. `groups` must be made of groups of the last level.
  void Add(const char* name, Partition groups, const LinkModel& link);
};

}  // namespace lamina::collective
