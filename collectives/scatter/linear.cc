// SPDX-License-Identifier: BSD-3-Clause
// Scatter, linear: the root sends every rank its block, in rank order behind it.
//
// No byte moves twice, so this is for long blocks.
//
// Shape:  input P blocks of n elements at the root, output one block on every rank.
// Cost:   alpha + (P - 2) * overhead + (P - 1) * n * beta.
// Source: MPI-5.0, section 6.6 (the definition of MPI_SCATTER).
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"
#include "collectives/scatter/scatter.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Burst(link, others, others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice own = Output(0, call.output_count);
  if (shape.rank != call.root) {
    schedule->Receive(call.root, own);
    return schedule->EndRound();
  }
  const std::int64_t block = call.input_count;
  for (Rank position = 1; position < shape.ranks; ++position) {
    const Rank rank = RankAt(position, call.root, shape.ranks);
    schedule->Send(rank, Input(rank * block, block));
  }
  if (!call.in_place) schedule->Copy(Input(shape.rank * block, block), own);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScatterLinear{"linear", Operation::kScatter, Fits, CostUs, Plan};

}  // namespace lamina::collective
