// SPDX-License-Identifier: BSD-3-Clause
// Barrier, tree: a binomial tree gathers "I am here" to rank 0 and spreads "all are here" from it.
//
// It is twice as deep as dissemination, but takes 2 (P - 1) messages in all instead of P log2 P, so
// it is for links that many messages at once would crowd.
//
// Shape:  no data.
// Cost:   2 * ceil(log2 P) * alpha; 2 (P - 1) messages in all.
// Source: Mellor-Crummey, Scott, ACM Trans. Comput. Syst. 9 (1991) 21-65.
#include "collectives/pieces/tree.h"

#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call&, const Shape& shape, const LinkModel& link) {
  return Move(link, 2 * CeilLog2(shape.ranks), 0) + Turns(link, 2 * CeilLog2(shape.ranks));
}

void Plan(const Call&, const Shape& shape, Schedule* schedule) {
  const Rank end = SubtreeEnd(shape.rank, shape.ranks);
  for (Rank bit = 1; shape.rank + bit < end; bit *= 2)
    schedule->Receive(shape.rank + bit, Scratch(0, 0));
  schedule->EndRound();
  if (shape.rank != 0) {
    schedule->Receive(Parent(shape.rank), Scratch(0, 0));
    schedule->Send(Parent(shape.rank), Scratch(0, 0));
    schedule->EndRound();
  }
  for (Rank bit = ChildBits(shape.rank, shape.ranks) / 2; bit > 0; bit /= 2)
    if (shape.rank + bit < end) schedule->Send(shape.rank + bit, Scratch(0, 0));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kBarrierTree{"tree", Operation::kBarrier, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
