// SPDX-License-Identifier: BSD-3-Clause
// Blocks of all ranks side by side in rank order, and moving those of a group between the leader of
// a stage and its members. Groups must be ranges of ranks.
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
  // Blocks of these sizes.
  explicit Offsets(std::span<const std::int64_t> counts);

  std::int64_t Begin(Rank rank) const {
    return begins_.empty() ? rank * block_ : begins_[static_cast<std::size_t>(rank)];
  }
  std::int64_t Of(const Member& member) const {
    return Begin(member.first + member.size) - Begin(member.first);
  }
  // Of the groups of all members.
  std::int64_t Of(const Stage& stage) const {
    return Begin(stage.members.back().first + stage.members.back().size) - Begin(stage.first());
  }
  // All members' groups have as many elements.
  bool Even(const Stage& stage) const { return begins_.empty() && stage.even(); }

 private:
  std::int64_t block_ = 0;
  std::vector<std::int64_t> begins_;  // empty: all blocks are of one size
};

struct Transfer {
  const Stage& stage;
  const Offsets& offsets;
  std::int64_t bytes = 0;     // of one block, where that is known
  Slice own = {};             // this member's blocks; the count too
  Slice whole = {};           // at the leader: where the blocks of the stage begin
  bool own_in_whole = false;  // the leader's own are there already, or may stay there
  std::int64_t scratch = 0;   // first element the inner algorithm may use
};

// gather(v): from all `own` to the leader's `whole`.
void Collect(const Transfer& transfer, Schedule* schedule);
// scatter(v): back.
void Spread(const Transfer& transfer, Schedule* schedule);
// allgather(v) in place: `own` is its part of `whole`, on every member.
void Exchange(const Transfer& transfer, Schedule* schedule);

// A scatter's way inward: Spread through the stages before `end`, outermost first. A
// rank that does not lead the last of them receives its part; one that does has it in scratch from
// `scratch` on, the blocks of stage `end` - 1 and no more. In the end its own block is in `output`.
// For ranks that lead nothing or whose block is the first of every group they lead.
void PlanInward(const std::vector<Stage>& stages, std::size_t end, const Offsets& offsets,
                std::int64_t bytes, const Slice& output, std::int64_t scratch, Schedule* schedule);

}  // namespace lamina::collective::hierarchical
