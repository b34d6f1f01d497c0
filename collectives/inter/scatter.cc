// SPDX-License-Identifier: BSD-3-Clause
// Scatter and scatterv from a root in one group to another, linear: the root sends every rank its
// block. Empty blocks are not sent.
//
// Shape:  input all blocks at the root, output n_i elements on rank i of the other group.
// Cost:   alpha + (Q - 1) * overhead + the sum of n_i * beta, Q ranks in the group that receives.
// Source: MPI-5.0, section 6.6 (the definition of MPI_SCATTER).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  if (call.root == kNobody) return;
  if (call.root != shape.rank) {
    if (call.output_count > 0) schedule->Receive(call.root, Output(0, call.output_count));
    return schedule->EndRound();
  }
  const BlocksOf blocks(call);
  for (Rank peer = 0; peer < shape.remote_ranks; ++peer)
    if (blocks.To(peer).count > 0) schedule->Send(shape.ranks + peer, blocks.To(peer));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kInterScatterLinear{"linear", Operation::kScatter, AlwaysFits,
                                              NoCostUs, Plan<UniformBlocks>, true};
constinit const Algorithm kInterScattervLinear{"linear", Operation::kScatterv, AlwaysFits,
                                               NoCostUs, Plan<GivenBlocks>,    true};

}  // namespace lamina::collective
