// SPDX-License-Identifier: BSD-3-Clause
// Bcast, linear: the root sends to every other rank, in rank order behind it.
//
// Nobody passes anything on, so nobody waits for a rank that has to wait itself. This is for few
// ranks, and for ranks that share CPUs.
//
// Shape:  output n bytes on every rank.
// Cost:   alpha + (P - 2) * overhead + (P - 1) * n * beta; P - 1 messages of n bytes in all.
// Source: MPI-5.0, section 6.4 (the definition of MPI_BCAST).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Burst(link, others, others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice data = Output(0, call.output_count);
  if (shape.rank != call.root) {
    schedule->Receive(call.root, data);
  } else {
    for (Rank position = 1; position < shape.ranks; ++position)
      schedule->Send(RankAt(position, call.root, shape.ranks), data);
  }
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kBcastLinear{"linear", Operation::kBcast, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
