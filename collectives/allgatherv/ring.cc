// SPDX-License-Identifier: BSD-3-Clause
// Allgatherv, ring: every block travels once round the ring; empty blocks stay at home.
//
// Shape:  input n_i elements on rank i, output all blocks on every rank, at its displacements.
// Cost:   (P - 1) * alpha + (1 - 1/P) * N * beta for blocks of equal size, N elements in all.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = shape.ranks - 1;
  return MoveInRing(link, rounds, rounds / shape.ranks * static_cast<double>(call.bytes)) +
         Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank next = (shape.rank + 1) % ranks;
  const Rank previous = (shape.rank + ranks - 1) % ranks;
  const auto block = [&](Rank rank) {
    return Output(call.output_displacements[rank], call.output_counts[rank]);
  };
  if (!call.in_place && call.output_counts[shape.rank] > 0)
    schedule->Copy(Input(0, call.input_count), block(shape.rank));
  schedule->EndRound();
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (shape.rank - step + ranks) % ranks;
    const Rank received = (sent - 1 + ranks) % ranks;
    if (call.output_counts[received] > 0) schedule->Receive(previous, block(received));
    if (call.output_counts[sent] > 0) schedule->Send(next, block(sent));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllgathervRing{"ring", Operation::kAllgatherv, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
