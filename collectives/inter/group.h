// SPDX-License-Identifier: BSD-3-Clause
// What the plans between two groups share: a group folds its vectors to its rank 0, the leader, and
// hears from it.
#pragma once

#include "collectives/reduce/binomial_fold.h"

namespace lamina::collective {

// There is nothing to choose between.
inline double NoCostUs(const Call&, const Shape&, const LinkModel&) { return 0; }

// The leader of the other group, as a peer.
inline Rank RemoteLeader(const Shape& shape) { return shape.ranks; }

// Folds the inputs of this rank's group, `count` elements each, in rank order, and returns where
// the result is at the leader. Uses scratch for two vectors and asks for it.
inline Slice FoldToLeader(std::int64_t count, const Shape& shape, Schedule* schedule) {
  const Accumulator::Folds folds = FoldsOf(shape.rank, shape.ranks);
  if (folds.right > 0) schedule->scratch_elements = 2 * count;
  Accumulator sum(schedule, Input(0, count), Scratch(count, count), Scratch(0, count), false,
                  folds);
  FoldSubtree(schedule, &sum, shape.rank, 0, shape.ranks);
  if (shape.rank != 0) schedule->Send(Parent(shape.rank), sum.value());
  schedule->EndRound();
  return sum.value();
}

// Spreads `data` from the leader, which has it, to the rest of the group.
inline void SpreadFromLeader(const Slice& data, const Shape& shape, Schedule* schedule) {
  if (shape.rank != 0) schedule->Receive(Parent(shape.rank), data);
  schedule->EndRound();
  for (Rank bit = ChildBits(shape.rank, shape.ranks) / 2; bit > 0; bit /= 2)
    if (shape.rank + bit < shape.ranks) schedule->Send(shape.rank + bit, data);
  schedule->EndRound();
}

}  // namespace lamina::collective
