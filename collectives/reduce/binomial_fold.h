// SPDX-License-Identifier: BSD-3-Clause
// What the binomial reductions share: a position folds the subtrees below it, lowest bit first.
#pragma once

#include "collectives/pieces/accumulator.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {

inline Accumulator::Folds FoldsOf(Rank position, Rank ranks) {
  int children = 0;
  const Rank end = SubtreeEnd(position, ranks);
  for (Rank bit = 1; position + bit < end; bit *= 2) ++children;
  return {children, children > 0};
}

// Child `position + bit` holds the positions right behind what has been folded so far, so every
// fold is one from the right and the order of positions is kept. `root` is the rank at position 0.
inline void FoldSubtree(Schedule* schedule, Accumulator* accumulator, Rank position, Rank root,
                        Rank ranks) {
  const Rank end = SubtreeEnd(position, ranks);
  for (Rank bit = 1; position + bit < end; bit *= 2) {
    schedule->Receive(RankAt(position + bit, root, ranks), accumulator->spare());
    accumulator->FoldRight();
    schedule->EndRound();
  }
}

}  // namespace lamina::collective
