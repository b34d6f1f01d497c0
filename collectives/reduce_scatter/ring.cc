// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter, ring: block i starts at rank i + 1, passes round the ring, grows at every rank
// and ends at rank i, complete.
//
// Only neighbours talk, and no rank sends more than one block a round, so this is for long blocks.
// Each block is folded along a path that starts at a different rank, so the operation must be
// commutative.
//
// Shape:  input N elements in P blocks n_i, output n_i on rank i; scratch two of the longest block.
// Cost:   (P - 1) * alpha + (1 - 1/P) * N * (beta + gamma) for equal blocks.
// Source: Patarasuk, Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124 (its first half).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce_scatter/result_blocks.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.commutative; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double moved = others / shape.ranks * BytesOfAll(call, shape);
  return MoveInRing(link, others, moved) + Combine(link, moved) + Turns(link, others);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank next = (shape.rank + 1) % ranks;
  const Rank previous = (shape.rank + ranks - 1) % ranks;
  const ResultBlocks blocks(call, shape);
  const std::int64_t longest = blocks.longest();
  schedule->scratch_elements = 2 * longest;
  // Where a block waits between its arrival in `step` and its departure in the next.
  const auto place = [&](Rank step, Rank block) {
    return Scratch(step % 2 * longest, blocks.Count(block));
  };
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (previous - step + ranks) % ranks;
    const Rank grown = (sent + ranks - 1) % ranks;
    if (blocks.Count(grown) > 0) schedule->Receive(previous, place(step, grown));
    if (blocks.Count(sent) > 0)
      schedule->Send(next, step == 0 ? blocks.InputOf(sent) : place(step - 1, sent));
    if (blocks.Count(grown) > 0) schedule->Reduce(blocks.InputOf(grown), place(step, grown));
    schedule->EndRound();
  }
  if (blocks.Count(shape.rank) == 0) return;
  schedule->Copy(place(ranks - 2, shape.rank), Output(0, blocks.Count(shape.rank)));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceScatterRing{"ring", Operation::kReduceScatter, Fits, CostUs, Plan};
constinit const Algorithm kReduceScatterBlockRing{"ring", Operation::kReduceScatterBlock, Fits,
                                                  CostUs, Plan};

}  // namespace lamina::collective
