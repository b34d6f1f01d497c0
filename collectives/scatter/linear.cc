// SPDX-License-Identifier: BSD-3-Clause
// Scatter(v), linear: the root sends every rank its block, in rank order behind it; empty blocks
// are not sent.
//
// No byte moves twice, so this is for long blocks. In the v-form only the root knows all counts, so
// nobody else could pass a block on.
//
// Shape:  input P blocks at the root, output n elements on every rank (n_i on rank i).
// Cost:   alpha + (P - 2) * overhead + (P - 1) * n * beta.
// Source: MPI-5.0, section 6.6 (the definitions of MPI_SCATTER and MPI_SCATTERV).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Burst(link, others, others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice own = Output(0, call.output_count);
  if (shape.rank != call.root) {
    if (own.count > 0) schedule->Receive(call.root, own);
    return schedule->EndRound();
  }
  const BlocksOf blocks(call);
  for (Rank position = 1; position < shape.ranks; ++position) {
    const Rank rank = RankAt(position, call.root, shape.ranks);
    if (blocks.To(rank).count > 0) schedule->Send(rank, blocks.To(rank));
  }
  if (!call.in_place && own.count > 0) schedule->Copy(blocks.To(shape.rank), own);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScatterLinear{"linear", Operation::kScatter, AlwaysFits, CostUs,
                                         Plan<UniformBlocks>};
constinit const Algorithm kScattervLinear{"linear", Operation::kScatterv, AlwaysFits, CostUs,
                                          Plan<GivenBlocks>};

}  // namespace lamina::collective
