// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator lie in the machine: levels of groups, from the innermost outward,
// and what a message costs on each.
//
// A communicator has one Topology, the same on all its ranks: built only from what all of them
// know, so that what they decide by it they decide alike.
//
// Memory: none per rank where ranks were placed in blocks; else a few words for each run of
//         consecutive ranks in one group.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/base/ids.h"

namespace lamina::collective {

// What moving and combining costs between two ranks: a message of n bytes takes alpha + n * beta,
// of which its sender and its receiver are busy for `overhead` each; reducing n bytes takes
// n * gamma. `crowd` ranks share one CPU: when it is above 1, a rank that a message has reached
// waits for its turn, crowd * turn. `sharers` ranks share one way out, such as their node's
// network: where all of them send at once, each byte takes as long as so many. Longer messages than
// `eager_bytes` ask the receiver first, which takes two more messages.
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
  // Every group is a range of consecutive ranks.
  bool in_order() const { return each_ > 0 || members_.empty(); }

  // All of these take O(log runs) at most.
  Rank GroupOf(Rank rank) const;
  Rank IndexOf(Rank rank) const;  // of `rank` among the members of its group
  Rank SizeOf(Rank group) const;
  Rank Member(Rank group, Rank index) const;

 private:
  friend class PartitionBuilder;
  // Consecutive ranks of one group.
  struct Run {
    Rank first;
    Rank group;
    Rank index;  // of `first` in its group
  };
  const Run& RunOf(Rank rank) const;
  Rank RunEnd(const Run& run) const;

  Rank ranks_ = 0;
  Rank groups_ = 0;
  Rank largest_ = 0;
  Rank each_ = 0;             // above 0: blocks of that many, and nothing below is used
  std::vector<Run> runs_;     // by rank; one per group if they are in order
  std::vector<Run> members_;  // the same by (group, rank); empty if the groups are in order
  std::vector<std::uint32_t> group_begins_;  // index of each group's first run in members_
};

// Makes a partition rank by rank.
class PartitionBuilder {
 public:
  // The next rank is in the group of this name.
  void Add(std::uint64_t group_name);
  Partition Finish();

 private:
  std::map<std::uint64_t, Rank> numbers_;  // of groups, by name
  std::vector<Rank> sizes_;                // by group
  std::vector<Partition::Run> runs_;
  std::uint64_t last_name_ = 0;
  Rank ranks_ = 0;
};

struct Level {
  const char* name;  // of what a group shares: "near", "node", "switch"
  Partition groups;
  // Between ranks of one group that are in different groups of the level before.
  LinkModel link;
};

// Each group of a level is made of whole groups of the level before. No level is trivial: each has
// a group of several members, more than one group, and groups that are not those of another level.
struct Topology {
  std::vector<Level> levels;
  LinkModel outermost;  // between ranks of different groups of the last level
  int node_level = -1;  // the one whose groups are the ranks of a node each; -1: there is none

  // The link of level `i`; behind the last level, the outermost one.
  const LinkModel& Link(std::size_t i) const {
    return i < levels.size() ? levels[i].link : outermost;
  }
  // Appends unless that would be trivial. `groups` must be made of groups of the last level.
  void Add(const char* name, Partition groups, const LinkModel& link);
};

}  // namespace lamina::collective
