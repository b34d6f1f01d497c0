// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v), ring: every block travels once round the ring; empty blocks stay at home.
//
// Messages go between neighbours only and no byte arrives twice, for any P. This is for long
// blocks.
//
// Shape:  input n elements on every rank (n_i on rank i), output all blocks on every rank.
// Cost:   (P - 1) * (alpha + n * beta), n the average in the v-form.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = shape.ranks - 1;
  const double blocks = call.operation == Operation::kAllgather ? 1 : shape.ranks;  // in the bytes
  return MoveInRing(link, rounds, rounds / blocks * static_cast<double>(call.bytes)) +
         Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank next = (shape.rank + 1) % ranks;
  const Rank previous = (shape.rank + ranks - 1) % ranks;
  const GatheredBlocks blocks(call);
  const Slice own = call.in_place ? blocks.From(shape.rank) : blocks.To(next);
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank from = (shape.rank - step + ranks) % ranks;
    const Slice sent = step == 0 ? own : blocks.From(from);
    const Slice received = blocks.From((from - 1 + ranks) % ranks);
    if (received.count > 0) schedule->Receive(previous, received);
    if (sent.count > 0) schedule->Send(next, sent);
    if (step == 0 && !call.in_place && own.count > 0) schedule->Copy(own, blocks.From(shape.rank));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllgatherRing{"ring", Operation::kAllgather, AlwaysFits, CostUs, Plan};
constinit const Algorithm kAllgathervRing{"ring", Operation::kAllgatherv, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
