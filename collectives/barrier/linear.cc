// SPDX-License-Identifier: BSD-3-Clause
// Barrier, linear: every rank tells rank 0 that it is here; when all are, rank 0 tells every rank.
//
// It is two messages deep whatever P is, so if ranks share CPUs each waits for its turn only twice;
// but rank 0 handles 2 (P - 1) messages.
//
// Shape:  no data.
// Cost:   2 * (alpha + (P - 2) * overhead); 2 (P - 1) messages in all.
// Source: Mellor-Crummey, Scott, ACM Trans. Comput. Syst. 9 (1991) 21-65 (the central barrier).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call&, const Shape& shape, const LinkModel& link) {
  return 2 * Burst(link, shape.ranks - 1, 0) + Turns(link, 2);
}

void Plan(const Call&, const Shape& shape, Schedule* schedule) {
  const Slice nothing = Scratch(0, 0);
  if (shape.rank == 0) {
    for (Rank rank = 1; rank < shape.ranks; ++rank) schedule->Receive(rank, nothing);
    schedule->EndRound();
    for (Rank rank = 1; rank < shape.ranks; ++rank) schedule->Send(rank, nothing);
    return schedule->EndRound();
  }
  schedule->Receive(0, nothing);
  schedule->Send(0, nothing);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kBarrierLinear{"linear", Operation::kBarrier, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
