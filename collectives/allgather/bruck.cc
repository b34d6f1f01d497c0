// SPDX-License-Identifier: BSD-3-Clause
// Allgather, Bruck: in round k every rank fetches, from the rank 2^k behind it in the order of
// blocks, all blocks that one has and it lacks.
//
// Blocks are kept in scratch beginning with one's own, so any P takes ceil(log2 P) rounds of one
// message each; at the end they are turned into place. This is for short blocks.
//
// Shape:  input n elements on every rank, output P blocks on every rank; scratch P blocks.
// Cost:   ceil(log2 P) * alpha + (P - 1) * n * beta.
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE Trans. Parallel Distrib. Syst. 8 (1997)
//         1143-1156.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks);
  const double bytes = static_cast<double>(call.bytes);
  // The turning is a copy of everything, about as fast as combining.
  return MoveAtOnce(link, rounds, (shape.ranks - 1) * bytes) + Combine(link, shape.ranks * bytes) +
         Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const std::int64_t block = call.output_count;
  schedule->scratch_elements = ranks * block;
  schedule->Copy(call.in_place ? Output(shape.rank * block, block) : Input(0, call.input_count),
                 Scratch(0, block));
  schedule->EndRound();
  for (Rank held = 1; held < ranks; held *= 2) {
    const Rank moved = std::min(held, ranks - held);
    schedule->Receive((shape.rank + held) % ranks, Scratch(held * block, moved * block));
    schedule->Send((shape.rank + ranks - held) % ranks, Scratch(0, moved * block));
    schedule->EndRound();
  }
  const Rank upper = ranks - shape.rank;  // blocks from one's own to the last rank's
  schedule->Copy(Scratch(0, upper * block), Output(shape.rank * block, upper * block));
  if (shape.rank > 0)
    schedule->Copy(Scratch(upper * block, shape.rank * block), Output(0, shape.rank * block));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAllgatherBruck{"bruck", Operation::kAllgather, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
