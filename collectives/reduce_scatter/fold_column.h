// SPDX-License-Identifier: BSD-3-Clause
// What both forms of the direct reduce-scatter share.
#pragma once

#include <functional>

#include "collectives/collective.h"

namespace lamina::collective {

// Every rank sends each other rank the part of its vector that belongs there, and folds the P parts
// of its own block from the last rank to the first, so rank order is kept. Scratch slot i holds
// rank i's part. `block(r)`: where rank r's block lies in the input.
inline void PlanDirect(const Shape& shape, const std::function<Slice(Rank)>& block,
                       Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Slice own = block(shape.rank);
  const auto part = [&](Rank rank) { return Scratch(rank * own.count, own.count); };
  schedule->scratch_elements = ranks * own.count;
  for (Rank gap = 1; gap < ranks; ++gap) {
    const Rank behind = (shape.rank + ranks - gap) % ranks;
    const Rank ahead = (shape.rank + gap) % ranks;
    if (own.count > 0) schedule->Receive(behind, part(behind));
    if (block(ahead).count > 0) schedule->Send(ahead, block(ahead));
  }
  if (own.count > 0) {
    // In place the output is the beginning of the input: it may change only now.
    schedule->Copy(own, part(shape.rank));
    for (Rank rank = ranks - 2; rank >= 0; --rank) schedule->Reduce(part(rank), part(ranks - 1));
    schedule->Copy(part(ranks - 1), Output(0, own.count));
  }
  schedule->EndRound();
}

}  // namespace lamina::collective
