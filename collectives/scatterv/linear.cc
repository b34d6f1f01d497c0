// SPDX-License-Identifier: BSD-3-Clause
// Scatterv, linear: the root sends every rank its block; empty blocks are not sent.
//
// Only the root knows all counts, so nobody else could pass a block on.
//
// Shape:  input blocks of n_i elements at the root, at its displacements; output n_i on rank i.
// Cost:   alpha + (P - 2) * overhead + the sum of n_i * beta.
// Source: MPI-5.0, section 6.6 (the definition of MPI_SCATTERV).
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"
#include "collectives/scatterv/scatterv.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call&, const Shape& shape, const LinkModel& link) {
  return Burst(link, shape.ranks - 1, 0) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice own = Output(0, call.output_count);
  if (shape.rank != call.root) {
    if (own.count > 0) schedule->Receive(call.root, own);
    return schedule->EndRound();
  }
  const auto block = [&](Rank rank) {
    return Input(call.input_displacements[rank], call.input_counts[rank]);
  };
  for (Rank position = 1; position < shape.ranks; ++position) {
    const Rank rank = RankAt(position, call.root, shape.ranks);
    if (call.input_counts[rank] > 0) schedule->Send(rank, block(rank));
  }
  if (!call.in_place && own.count > 0) schedule->Copy(block(shape.rank), own);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScattervLinear{"linear", Operation::kScatterv, Fits, CostUs, Plan};

}  // namespace lamina::collective
