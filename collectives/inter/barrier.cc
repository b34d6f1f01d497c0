// SPDX-License-Identifier: BSD-3-Clause
// Barrier between two groups: each gathers "I am here" to its leader along a binomial tree, the
// leaders tell each other, and the trees spread it.
//
// Shape:  no data.
// Cost:   (2 * ceil(log2 P) + 1) * alpha, P ranks in the larger group; 2 (P + Q - 1) messages.
// Source: MPI-5.0, section 6.3 (the definition of MPI_BARRIER).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

void Plan(const Call&, const Shape& shape, Schedule* schedule) {
  const Slice nothing = Scratch(0, 0);
  const Rank end = SubtreeEnd(shape.rank, shape.ranks);
  for (Rank bit = 1; shape.rank + bit < end; bit *= 2) schedule->Receive(shape.rank + bit, nothing);
  schedule->EndRound();
  if (shape.rank != 0) {
    schedule->Send(Parent(shape.rank), nothing);
  } else {
    schedule->Receive(RemoteLeader(shape), nothing);
    schedule->Send(RemoteLeader(shape), nothing);
  }
  schedule->EndRound();
  SpreadFromLeader(nothing, shape, schedule);
}

}  // namespace

constinit const Algorithm kInterBarrierLeaders{
    "leaders", Operation::kBarrier, AlwaysFits, NoCostUs, Plan, true};

}  // namespace lamina::collective
