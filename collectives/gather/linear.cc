// SPDX-License-Identifier: BSD-3-Clause
// Gather(v), linear: every rank sends its block to the root.
//
// No byte moves twice, so this is for long blocks; the root handles P - 1 messages. In the v-form
// only the root knows all counts, so nobody else could pass a block on, and empty blocks are not
// sent. A gather of nothing still sends messages: barriers in stages use it to wait for all.
//
// Shape:  input n elements on every rank (n_i on rank i), output P blocks at the root.
// Cost:   alpha + (P - 2) / 2 * overhead + (P - 1) * n * beta.
// Source: MPI-5.0, section 6.5 (the definitions of MPI_GATHER and MPI_GATHERV).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Intake(link, others, others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const auto is_sent = [&](const Slice& block) {
    return block.count > 0 || call.operation == Operation::kGather;
  };
  const Slice own = Input(0, call.input_count);
  if (shape.rank != call.root) {
    if (is_sent(own)) schedule->Send(call.root, own);
    return schedule->EndRound();
  }
  const GatheredBlocks blocks(call);
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (rank != shape.rank && is_sent(blocks.From(rank)))
      schedule->Receive(rank, blocks.From(rank));
  if (!call.in_place && own.count > 0) schedule->Copy(own, blocks.From(shape.rank));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kGatherLinear{"linear", Operation::kGather, AlwaysFits, CostUs, Plan};
constinit const Algorithm kGathervLinear{"linear", Operation::kGatherv, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
