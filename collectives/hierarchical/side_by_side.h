// SPDX-License-Identifier: BSD-3-Clause
// Moves blocks between the leader of a stage and its members. The blocks of all ranks lie side by
// side in rank order, and groups must be ranges of ranks, so the blocks of a group are one piece.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/hierarchical/inner.h"

namespace lamina::collective::hierarchical {

// Where the block of each rank begins, in elements.
class Offsets {
 public:
  explicit Offsets(std::int64_t block) : block_(block) {}
  // Rank r's block has counts[r] elements.
  explicit Offsets(std::span<const std::int64_t> counts);

  std::int64_t Begin(Rank rank) const {
    return begins_.empty() ? rank * block_ : begins_[static_cast<std::size_t>(rank)];
  }
  // How many elements the group of `member` has.
  std::int64_t Of(const Member& member) const {
    return Begin(member.first + member.size) - Begin(member.first);
  }
  // How many elements the groups of all members have together.
  std::int64_t Of(const Stage& stage) const {
    return Begin(stage.members.back().first + stage.members.back().size) - Begin(stage.first());
  }
  // True if all members' groups have the same number of elements.
  bool Even(const Stage& stage) const { return begins_.empty() && stage.even(); }

 private:
  std::int64_t block_ = 0;
  std::vector<std::int64_t> begins_;  // empty if all blocks have `block_` elements
};

struct Transfer {
  const Stage& stage;
  const Offsets& offsets;
  std::int64_t bytes = 0;     // length of one block, or 0 where that is not known
  Slice own = {};             // this member's blocks
  Slice whole = {};           // where the blocks of the stage begin at the leader
  bool own_in_whole = false;  // the leader's own blocks are there already, or may stay there
  std::int64_t scratch = 0;   // first element the inner algorithm may use
};

// Gathers the members' `own` into the leader's `whole`.
void Collect(const Transfer& transfer, Schedule* schedule);
// Scatters the leader's `whole` to the members' `own`.
void Spread(const Transfer& transfer, Schedule* schedule);
// Allgathers in place: on every member, `own` is its part of `whole`.
void Exchange(const Transfer& transfer, Schedule* schedule);

// Scatters inward: does Spread through the stages before `end`, outermost first, until this rank's
// own block is in `output`. A rank that leads all of these stages must have the blocks of stage
// `end` - 1 in scratch, from `scratch` on. A rank that leads some of them must have its block first
// in each group it leads.
void PlanInward(const std::vector<Stage>& stages, std::size_t end, const Offsets& offsets,
                std::int64_t bytes, const Slice& output, std::int64_t scratch, Schedule* schedule);

}  // namespace lamina::collective::hierarchical
