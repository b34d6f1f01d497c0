// SPDX-License-Identifier: BSD-3-Clause
// What the linear reductions share: one rank folds the vectors of all, from the last to the first.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

// Plans the folds of the rank that has the result in its output at the end. It takes scratch for n
// elements, or for 2 n in place.
inline void FoldLinear(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  // This rank's own vector is an operand like the others', so in place it must not be overwritten
  // before its turn.
  const Slice own = Input(0, count);
  const Slice value = call.in_place ? Scratch(count, count) : Output(0, count);
  schedule->scratch_elements = call.in_place ? 2 * count : count;
  for (Rank rank = shape.ranks - 1; rank >= 0; --rank) {
    const bool first = rank == shape.ranks - 1;
    const Slice operand = first ? value : Scratch(0, count);
    if (rank != shape.rank) {
      schedule->Receive(rank, operand);
      if (!first) schedule->Reduce(operand, value);
    } else if (first) {
      schedule->Copy(own, value);
    } else {
      schedule->Reduce(own, value);
    }
    schedule->EndRound();
  }
  if (call.in_place) schedule->Copy(value, Output(0, count));
  schedule->EndRound();
}

}  // namespace lamina::collective
