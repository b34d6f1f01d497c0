// SPDX-License-Identifier: BSD-3-Clause
// Allgather, ring: every block travels once round the ring.
//
// Messages go between neighbours only and no byte arrives twice, for any P. This is for long
// blocks.
//
// Shape:  input n elements on every rank, output P blocks on every rank.
// Cost:   (P - 1) * (alpha + n * beta).
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = shape.ranks - 1;
  return MoveInRing(link, rounds, rounds * static_cast<double>(call.bytes)) + Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank next = (shape.rank + 1) % ranks;
  const Rank previous = (shape.rank + ranks - 1) % ranks;
  const auto block = [&](Rank rank) { return Output(rank * call.output_count, call.output_count); };
  const Slice own = call.in_place ? block(shape.rank) : Input(0, call.input_count);
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (shape.rank - step + ranks) % ranks;
    schedule->Receive(previous, block((sent - 1 + ranks) % ranks));
    schedule->Send(next, step == 0 ? own : block(sent));
    if (step == 0 && !call.in_place) schedule->Copy(own, block(shape.rank));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllgatherRing{"ring", Operation::kAllgather, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
