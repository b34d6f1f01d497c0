// SPDX-License-Identifier: BSD-3-Clause
// Scan, doubling: in round k rank r folds in, from the left, what rank r - 2^k had at its
// beginning.
//
// Before round k a rank holds the fold of the 2^k ranks up to itself (fewer near rank 0), so
// ceil(log2 P) rounds make prefixes of any length, in rank order.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   ceil(log2 P) * (alpha + n * beta + n * gamma).
// Source: Hillis, Steele, Commun. ACM 29 (1986) 1170-1183.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks);
  const double bytes = rounds * static_cast<double>(call.bytes);
  return MoveAtOnce(link, rounds, bytes) + Combine(link, bytes) + Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Slice result = Output(0, count);
  if (!call.in_place) schedule->Copy(Input(0, count), result);
  schedule->EndRound();
  schedule->scratch_elements = count;
  for (Rank gap = 1; gap < shape.ranks; gap *= 2) {
    if (shape.rank >= gap) schedule->Receive(shape.rank - gap, Scratch(0, count));
    if (shape.rank + gap < shape.ranks) schedule->Send(shape.rank + gap, result);
    if (shape.rank >= gap) schedule->Reduce(Scratch(0, count), result);
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kScanDoubling{"doubling", Operation::kScan, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
