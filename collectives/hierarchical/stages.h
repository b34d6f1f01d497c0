// SPDX-License-Identifier: BSD-3-Clause
// The levels of a topology as one rank climbs them.
//
// In stage 0 the ranks of an innermost group work together; in stage i those that stand for the
// groups of level i - 1 within one group of level i; in the last one those that stand for the
// outermost groups. The root of the operation stands for every group it is in, so a root costs
// nothing extra; for the other groups stands their lowest rank,
// or their highest.
#pragma once

#include <vector>

#include "collectives/collective.h"

namespace lamina::collective::hierarchical {

struct Member {
  Rank rank;   // who stands for the group
  Rank first;  // lowest rank of the group: it is [first, first + size) where groups are in order
  Rank size;
};

struct Stage {
  std::size_t level = 0;        // stage 0 is within the groups of level 0
  std::vector<Member> members;  // by `first`
  LinkModel link;               // between any two of them
  Rank own = 0;                 // index of this rank
  Rank leader = 0;              // index of the one that goes on to the next stage

  Rank size() const { return static_cast<Rank>(members.size()); }
  bool leads() const { return own == leader; }
  bool alone() const { return members.size() == 1; }
  bool even() const;  // all groups are of one size
  Rank first() const { return members.front().first; }
};

enum class Leader { kFirst, kLast };  // which rank of a group, where the root is not in it

// The link between the members of stage `i`. Where ranks share CPUs, those that a member stands for
// leave theirs to it meanwhile.
LinkModel LinkOf(const Topology& topology, std::size_t i);

// The stages this rank takes part in, innermost first. A rank that does not lead stage i is in none
// behind it; whoever leads all is in levels + 1. `root`: kNobody if nobody is.
std::vector<Stage> Climb(const Shape& shape, Rank root, Leader leader = Leader::kFirst);

// There are levels, and all their groups are ranges of consecutive ranks.
bool HasRanges(const Shape& shape);

// How many take part in a stage, at most, and the link between them; for cost statements.
struct Span {
  Rank ranks;  // who take part
  Rank below;  // ranks each of them stands for
  LinkModel link;
};
std::vector<Span> Spans(const Shape& shape);

}  // namespace lamina::collective::hierarchical
