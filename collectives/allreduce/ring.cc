// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, ring: P blocks travel round the ring, growing at every rank until they are complete;
// then they travel once more to be copied.
//
// It moves as few bytes as possible and only between neighbours, for any P, but takes 2 (P - 1)
// rounds, so it is for long vectors. Every block is reduced along one path, so the bits agree
// everywhere; that path starts at a different rank for each block, so the operation must be
// commutative.
//
// Shape:  input and output n elements on every rank; scratch ceil(n / P) in place.
// Cost:   2 (P - 1) * alpha + (P - 1) / P * (2 n beta + n gamma).
// Source: Patarasuk, Yuan, J. Parallel Distrib. Comput. 69 (2009) 117-124.
#include "collectives/algorithms.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.commutative; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = shape.ranks - 1;
  const double moved = rounds / shape.ranks * static_cast<double>(call.bytes);
  return MoveInRing(link, 2 * rounds, 2 * moved) + Combine(link, moved) + Turns(link, 2 * rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank ranks = shape.ranks;
  const Rank next = (shape.rank + 1) % ranks;
  const Rank previous = (shape.rank + ranks - 1) % ranks;
  const Blocks blocks(count, ranks);
  const auto at = [&](Where where, Rank block) {
    return Slice{where, blocks.Begin(block), blocks.Count(block, block + 1), -1};
  };

  if (call.in_place) schedule->scratch_elements = blocks.Count(0, 1);
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (shape.rank - step + ranks) % ranks;
    const Rank kept = (sent - 1 + ranks) % ranks;
    // A block passes each rank once, so the output is free to receive it unless it is the input.
    const Slice arrival =
        call.in_place ? Scratch(0, blocks.Count(kept, kept + 1)) : at(Where::kOutput, kept);
    schedule->Receive(previous, arrival);
    schedule->Send(next, at(step == 0 ? Where::kInput : Where::kOutput, sent));
    schedule->Reduce(call.in_place ? arrival : at(Where::kInput, kept), at(Where::kOutput, kept));
    schedule->EndRound();
  }
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (shape.rank + 1 - step + ranks) % ranks;
    const Rank received = (sent - 1 + ranks) % ranks;
    schedule->Receive(previous, at(Where::kOutput, received));
    schedule->Send(next, at(Where::kOutput, sent));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllreduceRing{"ring", Operation::kAllreduce, Fits, CostUs, Plan};

}  // namespace lamina::collective
