// SPDX-License-Identifier: BSD-3-Clause
// Allgatherv, linear: every rank sends its block to every other rank, all at once.
//
// There is one round whatever P is, so nobody waits twice. This is for short blocks and few ranks.
//
// Shape:  input n_i elements on rank i, output all blocks on every rank, at its displacements.
// Cost:   alpha + (2 P - 3) * overhead + 2 (1 - 1/P) * N * beta for blocks of equal size,
//         N elements in all.
// Source: MPI-5.0, section 6.7 (the definition of MPI_ALLGATHERV).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  // Long blocks from all ranks at once get in each other's way, so their bytes count twice.
  return Burst(link, 2 * others,
               link.sharers * 2 * others / shape.ranks * static_cast<double>(call.bytes)) +
         Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const GatheredBlocks blocks(call);
  const Slice own = call.in_place ? blocks.From(shape.rank) : Input(0, call.input_count);
  for (Rank gap = 1; gap < ranks; ++gap) {
    const Rank behind = (shape.rank + ranks - gap) % ranks;
    if (blocks.From(behind).count > 0) schedule->Receive(behind, blocks.From(behind));
    if (own.count > 0) schedule->Send((shape.rank + gap) % ranks, own);
  }
  if (!call.in_place && own.count > 0) schedule->Copy(own, blocks.From(shape.rank));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAllgathervLinear{"linear", Operation::kAllgatherv, AlwaysFits, CostUs,
                                            Plan};

}  // namespace lamina::collective
