// SPDX-License-Identifier: BSD-3-Clause
// Gather and gatherv from one group to a root in another, linear: every rank sends its block to the
// root. Empty blocks are not sent.
//
// Shape:  input n_i elements on rank i of one group, output all blocks at the root.
// Cost:   alpha + (Q - 1) * overhead + the sum of n_i * beta, Q ranks in the group that sends.
// Source: MPI-5.0, section 6.5 (the definition of MPI_GATHER).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  if (call.root == kNobody) return;
  const GatheredBlocks blocks(call);
  if (call.root != shape.rank) {
    if (call.input_count > 0) schedule->Send(call.root, blocks.To(0));
    return schedule->EndRound();
  }
  for (Rank peer = 0; peer < shape.remote_ranks; ++peer)
    if (blocks.From(peer).count > 0) schedule->Receive(shape.ranks + peer, blocks.From(peer));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kInterGatherLinear{
    "linear", Operation::kGather, AlwaysFits, NoCostUs, Plan, true};
constinit const Algorithm kInterGathervLinear{
    "linear", Operation::kGatherv, AlwaysFits, NoCostUs, Plan, true};

}  // namespace lamina::collective
