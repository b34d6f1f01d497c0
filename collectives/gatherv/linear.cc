// SPDX-License-Identifier: BSD-3-Clause
// Gatherv, linear: every rank sends its block to the root; empty blocks are not sent.
//
// Only the root knows all counts, so nobody else could pass a block on.
//
// Shape:  input n_i elements on rank i, output all blocks at the root, at its displacements.
// Cost:   alpha + (P - 2) * overhead + the sum of n_i * beta.
// Source: MPI-5.0, section 6.5 (the definition of MPI_GATHERV).
#include "collectives/gatherv/gatherv.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call&, const Shape& shape, const LinkModel& link) {
  return Burst(link, shape.ranks - 1, 0) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice own = Input(0, call.input_count);
  if (shape.rank != call.root) {
    if (own.count > 0) schedule->Send(call.root, own);
    return schedule->EndRound();
  }
  const auto block = [&](Rank rank) {
    return Output(call.output_displacements[rank], call.output_counts[rank]);
  };
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (rank != shape.rank && call.output_counts[rank] > 0) schedule->Receive(rank, block(rank));
  if (!call.in_place && own.count > 0) schedule->Copy(own, block(shape.rank));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kGathervLinear{"linear", Operation::kGatherv, Fits, CostUs, Plan};

}  // namespace lamina::collective
