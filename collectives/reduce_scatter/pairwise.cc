// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter, pairwise: in round k every rank sends the rank k ahead of it the part that
// belongs there, and folds what comes from the rank k behind.
//
// No byte moves more than once, and only one part waits at a time. Parts come from ranks below in
// falling order, then from the last rank down; so two sums, one of ranks up to this one and one of
// those above, keep rank order, and any operation will do.
//
// Shape:  input N elements in P blocks n_i, output n_i on rank i; scratch 3 n_i on rank i.
// Cost:   (P - 1) * alpha + (1 - 1/P) * N * (beta + gamma) for equal blocks.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce_scatter/result_blocks.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double moved = others / shape.ranks * BytesOfAll(call, shape);
  return MoveAtOnce(link, others, moved) + Combine(link, moved) + Turns(link, others);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank rank = shape.rank;
  const ResultBlocks blocks(call, shape);
  const std::int64_t count = blocks.Count(rank);
  const Slice below = Scratch(0, count);  // the sum of ranks up to this one
  const Slice above = Scratch(count, count);
  const Slice arrival = Scratch(2 * count, count);
  const Rank last = ranks - 1;
  schedule->scratch_elements = 3 * count;
  for (Rank gap = 1; gap < ranks; ++gap) {
    const Rank behind = (rank + ranks - gap) % ranks;
    const Rank ahead = (rank + gap) % ranks;
    if (count > 0) schedule->Receive(behind, behind == last ? above : arrival);
    if (blocks.Count(ahead) > 0) schedule->Send(ahead, blocks.InputOf(ahead));
    if (count > 0) {
      if (gap == 1) schedule->Copy(blocks.InputOf(rank), below);
      if (behind != last) schedule->Reduce(arrival, behind < rank ? below : above);
    }
    schedule->EndRound();
  }
  if (count == 0) return;
  if (rank != last) schedule->Reduce(below, above);
  schedule->Copy(rank == last ? below : above, Output(0, count));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceScatterPairwise{"pairwise", Operation::kReduceScatter, AlwaysFits,
                                                 CostUs, Plan};
constinit const Algorithm kReduceScatterBlockPairwise{"pairwise", Operation::kReduceScatterBlock,
                                                      AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
