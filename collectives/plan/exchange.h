// SPDX-License-Identifier: BSD-3-Clause
// The rounds in which every rank exchanges one block with every other: what alltoall, alltoallv and
// alltoallw share. They differ only in where a block lies, which `blocks` says:
//   Slice To(Rank peer) const;    what goes to it, in the input
//   Slice From(Rank peer) const;  what comes from it, in the output
//   bool in_place() const;        From() is also what goes to it
// Empty blocks are not sent.
#pragma once

#include <algorithm>

#include "collectives/collective.h"

namespace lamina::collective {

// Uniform blocks.
class UniformBlocks {
 public:
  explicit UniformBlocks(const Call& call) : call_(call) {}
  Slice To(Rank peer) const { return Input(peer * call_.input_count, call_.input_count); }
  Slice From(Rank peer) const { return Output(peer * call_.output_count, call_.output_count); }
  bool in_place() const { return call_.in_place; }

 private:
  const Call& call_;
};

// Blocks given by counts and displacements; in alltoallw each has its own datatype.
class GivenBlocks {
 public:
  explicit GivenBlocks(const Call& call)
      : call_(call), typed_(call.operation == Operation::kAlltoallw) {}
  Slice To(Rank peer) const {
    return {Where::kInput, call_.input_displacements[peer], call_.input_counts[peer],
            typed_ ? peer : -1};
  }
  Slice From(Rank peer) const {
    return {Where::kOutput, call_.output_displacements[peer], call_.output_counts[peer],
            typed_ ? peer : -1};
  }
  bool in_place() const { return call_.in_place; }

 private:
  const Call& call_;
  bool typed_;
};

// Gaps 1..P-1 in windows: within one, everything is under way at once. Rank r sends to r + gap and
// receives from r - gap, so the windows of all ranks agree.
template <class BlocksOf>
void PlanWindowed(const BlocksOf& blocks, const Shape& shape, Rank window, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  for (Rank begin = 1; begin < ranks; begin += window) {
    for (Rank gap = begin; gap < std::min(ranks, begin + window); ++gap) {
      const Rank behind = (shape.rank + ranks - gap) % ranks;
      if (blocks.From(behind).count > 0) schedule->Receive(behind, blocks.From(behind));
    }
    for (Rank gap = begin; gap < std::min(ranks, begin + window); ++gap) {
      const Rank ahead = (shape.rank + gap) % ranks;
      if (blocks.To(ahead).count > 0) schedule->Send(ahead, blocks.To(ahead));
    }
    if (begin == 1 && blocks.To(shape.rank).count > 0)
      schedule->Copy(blocks.To(shape.rank), blocks.From(shape.rank));
    schedule->EndRound();
  }
}

// In place: in round k rank r swaps with k - r mod P, so every pair meets once, and what arrives
// waits in scratch until the old block has left. `largest`: elements of the largest block.
template <class BlocksOf>
void PlanInPlace(const BlocksOf& blocks, const Shape& shape, std::int64_t largest,
                 Schedule* schedule) {
  schedule->scratch_elements = largest;
  for (Rank round = 0; round < shape.ranks; ++round) {
    const Rank peer = (round - shape.rank + shape.ranks) % shape.ranks;
    const Slice block = blocks.From(peer);
    if (peer == shape.rank || block.count == 0) continue;
    Slice spare = Scratch(0, block.count);
    spare.type_of = block.type_of;
    schedule->Receive(peer, spare);
    schedule->Send(peer, block);
    schedule->Copy(spare, block);
    schedule->EndRound();
  }
}

inline std::int64_t Largest(std::span<const std::int64_t> counts) {
  return *std::max_element(counts.begin(), counts.end());
}

}  // namespace lamina::collective
