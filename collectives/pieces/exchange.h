// SPDX-License-Identifier: BSD-3-Clause
// The rounds in which every rank exchanges one block with every other. Operations differ only in
// where a block lies, which `blocks` says:
//   Slice To(Rank peer) const;     what goes to the peer, in the input
//   Slice From(Rank peer) const;   what comes from the peer, in the output
//   std::int64_t largest() const;  elements of the longest From(), for exchanges in place
// On an intercommunicator `peer` is the rank within the other group, and among neighbours it is the
// index of the neighbour. Empty blocks are not sent.
#pragma once

#include <algorithm>

#include "collectives/collective.h"
#include "collectives/pieces/rank_group.h"

namespace lamina::collective {

// Blocks of one length for every peer: alltoall and scatter.
class UniformBlocks {
 public:
  explicit UniformBlocks(const Call& call) : call_(call) {}
  Slice To(Rank peer) const { return Input(peer * call_.input_count, call_.input_count); }
  Slice From(Rank peer) const { return Output(peer * call_.output_count, call_.output_count); }
  std::int64_t largest() const { return call_.output_count; }

 private:
  const Call& call_;
};

// One block that goes to all, and one that comes from each: the gathers and allgathers.
class GatheredBlocks {
 public:
  explicit GatheredBlocks(const Call& call) : call_(call) {}
  Slice To(Rank) const { return Input(0, call_.input_count); }
  Slice From(Rank peer) const {
    if (call_.output_displacements.empty())
      return Output(peer * call_.output_count, call_.output_count);
    return Output(call_.output_displacements[peer], call_.output_counts[peer]);
  }

 private:
  const Call& call_;
};

// Blocks given by counts and displacements: the v-forms, and the w-forms, in which each block has
// its own datatype.
class GivenBlocks {
 public:
  explicit GivenBlocks(const Call& call) : call_(call), typed_(Typed(call.operation)) {}
  Slice To(Rank peer) const {
    return {Where::kInput, call_.input_displacements[peer], call_.input_counts[peer],
            typed_ ? peer : -1};
  }
  Slice From(Rank peer) const {
    return {Where::kOutput, call_.output_displacements[peer], call_.output_counts[peer],
            typed_ ? peer : -1};
  }
  std::int64_t largest() const {
    return *std::max_element(call_.output_counts.begin(), call_.output_counts.end());
  }

 private:
  const Call& call_;
  bool typed_;
};

// Exchanges with the ranks at gaps 1..P-1 in windows. Everything in one window is under way at
// once. Rank r sends to r + gap and receives from r - gap, by the sums of a RankGroup, so the
// windows of all ranks agree.
template <class BlocksOf>
void PlanWindowed(const BlocksOf& blocks, const Shape& shape, Rank window, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const RankGroup group(ranks);
  for (Rank begin = 1; begin < ranks; begin += window) {
    for (Rank gap = begin; gap < std::min(ranks, begin + window); ++gap) {
      const Rank behind = group.Minus(shape.rank, gap);
      if (blocks.From(behind).count > 0) schedule->Receive(behind, blocks.From(behind));
    }
    for (Rank gap = begin; gap < std::min(ranks, begin + window); ++gap) {
      const Rank ahead = group.Plus(shape.rank, gap);
      if (blocks.To(ahead).count > 0) schedule->Send(ahead, blocks.To(ahead));
    }
    if (begin == 1 && blocks.To(shape.rank).count > 0)
      schedule->Copy(blocks.To(shape.rank), blocks.From(shape.rank));
    schedule->EndRound();
  }
}

// Exchanges in place. In round k rank r swaps with k - r, by the differences of a RankGroup, so
// every pair meets once, and what arrives waits in scratch until the old block has left.
template <class BlocksOf>
void PlanInPlace(const BlocksOf& blocks, const Shape& shape, Schedule* schedule) {
  schedule->scratch_elements = blocks.largest();
  const RankGroup group(shape.ranks);
  for (Rank round = 0; round < shape.ranks; ++round) {
    const Rank peer = group.Minus(round, shape.rank);
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

// Exchanges between two groups of ranks, the larger of which has N. Rank i of one and rank j of the
// other exchange their blocks in round (i + j) mod N, so both have them in the same window.
template <class BlocksOf>
void PlanBetween(const BlocksOf& blocks, const Shape& shape, Rank window, Schedule* schedule) {
  const Rank rounds = std::max(shape.ranks, shape.remote_ranks);
  const auto peer_in = [&](Rank round) { return (round - shape.rank + rounds) % rounds; };
  for (Rank begin = 0; begin < rounds; begin += window) {
    const Rank end = std::min(rounds, begin + window);
    for (Rank round = begin; round < end; ++round) {
      const Rank peer = peer_in(round);
      if (peer < shape.remote_ranks && blocks.From(peer).count > 0)
        schedule->Receive(shape.ranks + peer, blocks.From(peer));
    }
    for (Rank round = begin; round < end; ++round) {
      const Rank peer = peer_in(round);
      if (peer < shape.remote_ranks && blocks.To(peer).count > 0)
        schedule->Send(shape.ranks + peer, blocks.To(peer));
    }
    schedule->EndRound();
  }
}

// Exchanges among neighbours, all at once. The k-th block for a rank meets the k-th one it takes
// from here. On a grid both directions of one dimension may lead to the same rank, and what leaves
// one way comes in from the other.
template <class BlocksOf>
void PlanNeighbours(const BlocksOf& blocks, const Shape& shape, Schedule* schedule) {
  const auto sources = static_cast<Rank>(shape.sources.size());
  const auto destinations = static_cast<Rank>(shape.destinations.size());
  const auto source = [&](Rank i) { return shape.grid ? i ^ 1 : i; };
  for (Rank i = 0; i < sources; ++i) {
    const Rank peer = shape.sources[source(i)];
    const Slice into = blocks.From(source(i));
    if (peer >= 0 && peer != shape.rank && into.count > 0) schedule->Receive(peer, into);
  }
  Rank from_self = 0;
  for (Rank k = 0; k < destinations; ++k) {
    const Rank peer = shape.destinations[k];
    if (peer >= 0 && peer != shape.rank && blocks.To(k).count > 0)
      schedule->Send(peer, blocks.To(k));
    if (peer != shape.rank) continue;
    while (from_self < sources && shape.sources[source(from_self)] != shape.rank) ++from_self;
    if (from_self == sources) continue;
    if (blocks.To(k).count > 0) schedule->Copy(blocks.To(k), blocks.From(source(from_self)));
    ++from_self;
  }
  schedule->EndRound();
}

}  // namespace lamina::collective
