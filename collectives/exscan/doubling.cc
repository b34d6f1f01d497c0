// SPDX-License-Identifier: BSD-3-Clause
// Exscan, doubling: every vector moves one rank up; then a scan by doubling runs over ranks 1..P-1.
//
// The move costs one round, and nothing is folded that does not belong to the result. The output of
// rank 0 is left alone.
//
// Shape:  input and output n elements on every rank; scratch n, or 2 n in place.
// Cost:   (1 + ceil(log2(P - 1))) * (alpha + n * beta) + ceil(log2(P - 1)) * n * gamma.
// Source: Hillis, Steele, Commun. ACM 29 (1986) 1170-1183.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks - 1);
  const double bytes = static_cast<double>(call.bytes);
  return MoveAtOnce(link, rounds + 1, (rounds + 1) * bytes) + Combine(link, rounds * bytes) +
         Turns(link, rounds + 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank rank = shape.rank;
  const Slice arrival = call.in_place ? Scratch(count, count) : Output(0, count);
  if (rank > 0) schedule->Receive(rank - 1, arrival);
  if (rank + 1 < shape.ranks) schedule->Send(rank + 1, Input(0, count));
  if (rank > 0 && call.in_place) schedule->Copy(arrival, Output(0, count));
  schedule->EndRound();
  if (rank == 0) return;

  schedule->scratch_elements = (call.in_place ? 2 : 1) * count;
  for (Rank gap = 1; gap + 1 < shape.ranks; gap *= 2) {
    if (rank > gap) schedule->Receive(rank - gap, Scratch(0, count));
    if (rank + gap < shape.ranks) schedule->Send(rank + gap, Output(0, count));
    if (rank > gap) schedule->Reduce(Scratch(0, count), Output(0, count));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kExscanDoubling{"doubling", Operation::kExscan, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
