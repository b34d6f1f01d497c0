// SPDX-License-Identifier: BSD-3-Clause
// Barrier, dissemination: in round k every rank tells the rank 2^k ahead of it.
//
// After round k a rank has heard, directly or not, from the 2^(k+1) ranks up to and including
// itself, so ceil(log2 P) rounds suffice for any P, not only powers of two.
//
// Shape:  no data.
// Cost:   ceil(log2 P) * alpha; each rank sends ceil(log2 P) messages.
// Source: Hensgen, Finkel, Manber, Int. J. Parallel Program. 17 (1988) 1-17.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call&, const Shape& shape, const LinkModel& link) {
  const int rounds = CeilLog2(shape.ranks);
  return Move(link, rounds, 0) + Turns(link, rounds);
}

void Plan(const Call&, const Shape& shape, Schedule* schedule) {
  for (Rank gap = 1; gap < shape.ranks; gap *= 2) {
    schedule->Receive((shape.rank + shape.ranks - gap) % shape.ranks, Scratch(0, 0));
    schedule->Send((shape.rank + gap) % shape.ranks, Scratch(0, 0));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kBarrierDissemination{"dissemination", Operation::kBarrier, AlwaysFits,
                                                CostUs, Plan};

}  // namespace lamina::collective
