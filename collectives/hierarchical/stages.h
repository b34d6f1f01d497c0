// SPDX-License-Identifier: BSD-3-Clause
// The stages of an operation as one rank climbs the levels of a hierarchy.
//
// In stage 0 the ranks of an innermost group work together. In stage i the ranks that stand for the
// groups of level i - 1 work together within each group of level i. In the last stage the ranks
// that stand for the outermost groups work together. The root of the operation stands for every
// group it is in, so that a root costs nothing extra. Every other group is represented by its
// lowest rank, or by its highest if the operation asks for that.
#pragma once

#include <vector>

#include "collectives/collective.h"

namespace lamina::collective::hierarchical {

struct Member {
  Rank rank;   // the rank that stands for the group
  Rank first;  // lowest rank of the group, which is [first, first + size) if groups are in order
  Rank size;
};

struct Stage {
  std::size_t level = 0;        // stage 0 is within the groups of level 0
  std::vector<Member> members;  // sorted by `first`
  LinkModel link;               // between any two of them
  Rank own = 0;                 // index of this rank
  Rank leader = 0;              // index of the member that goes on to the next stage

  Rank size() const { return static_cast<Rank>(members.size()); }
  bool leads() const { return own == leader; }
  bool alone() const { return members.size() == 1; }
  bool even() const;  // all groups have the same size
  Rank first() const { return members.front().first; }
};

enum class Leader { kFirst, kLast };  // which rank leads a group without the root

// The link between the members of stage `i`. If ranks share CPUs, the ranks that a member stands
// for leave their share to it during that stage.
LinkModel LinkOf(const Hierarchy& hierarchy, std::size_t i);

// The stages this rank takes part in, innermost first. They end with the first stage that it does
// not lead; a rank that leads all of them is in levels + 1 stages. `root` is kNobody if the
// operation has no root.
std::vector<Stage> Climb(const Shape& shape, Rank root, Leader leader = Leader::kFirst);

// True if there are levels and all their groups are ranges of consecutive ranks.
bool HasRanges(const Shape& shape);
// These are the `fits` of algorithms that need levels, with such groups or with any.
inline bool FitsRanges(const Call&, const Shape& shape) { return HasRanges(shape); }
inline bool FitsLevels(const Call&, const Shape& shape) { return shape.hierarchy != nullptr; }

// The size of the largest stage of a level, for cost statements.
struct Span {
  Rank ranks;  // how many take part
  Rank below;  // how many ranks each of them stands for
  LinkModel link;
};
std::vector<Span> Spans(const Shape& shape);

}  // namespace lamina::collective::hierarchical
