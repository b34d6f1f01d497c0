// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter, direct: every rank sends each other rank the part of its vector that belongs
// there and folds the P parts of its own block, in rank order.
//
// No byte moves more than once and rank order is kept, so any operation will do. Everything is
// under way at once, so all parts need a place to wait in. The last rank's part waits where the
// result belongs, unless that is the input.
//
// Shape:  input N elements in P blocks n_i, output n_i on rank i; scratch P n_i on rank i.
// Cost:   alpha + (2 P - 3) * overhead + (1 - 1/P) * N * (beta + gamma) for equal blocks.
// Source: MPI-5.0, section 6.10 (the definition of MPI_REDUCE_SCATTER).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce_scatter/result_blocks.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double moved = others / shape.ranks * BytesOfAll(call, shape);
  return Burst(link, 2 * others, link.sharers * moved) + Combine(link, moved) + Turns(link, 1);
}

// Scratch slot i holds rank i's part.
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const ResultBlocks blocks(call, shape);
  const Slice own = blocks.InputOf(shape.rank);
  // In place the output is the beginning of the input, so it may change only after the sends.
  const Slice sum =
      call.in_place ? Scratch((ranks - 1) * own.count, own.count) : Output(0, own.count);
  const auto part = [&](Rank rank) {
    return rank == shape.rank ? own : rank + 1 < ranks ? Scratch(rank * own.count, own.count) : sum;
  };
  schedule->scratch_elements = ranks * own.count;
  for (Rank gap = 1; gap < ranks; ++gap) {
    const Rank behind = (shape.rank + ranks - gap) % ranks;
    const Rank ahead = (shape.rank + gap) % ranks;
    if (own.count > 0) schedule->Receive(behind, part(behind));
    if (blocks.Count(ahead) > 0) schedule->Send(ahead, blocks.InputOf(ahead));
  }
  if (own.count > 0) {
    if (shape.rank + 1 == ranks) schedule->Copy(own, sum);
    for (Rank rank = ranks - 2; rank >= 0; --rank) schedule->Reduce(part(rank), sum);
    if (call.in_place) schedule->Copy(sum, Output(0, own.count));
  }
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceScatterDirect{"direct", Operation::kReduceScatter, AlwaysFits,
                                               CostUs, Plan};
constinit const Algorithm kReduceScatterBlockDirect{"direct", Operation::kReduceScatterBlock,
                                                    AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
