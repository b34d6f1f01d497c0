// SPDX-License-Identifier: BSD-3-Clause
// Bcast, binomial tree: whoever has the data passes it to the child with the largest subtree first.
//
// Positions count from the root, so any root costs the same.
//
// Shape:  output n bytes on every rank.
// Cost:   ceil(log2 P) * (alpha + n * beta); P - 1 messages of n bytes in all.
// Source: Johnsson, Ho, IEEE Trans. Comput. 38 (1989) 1249-1268.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double depth = CeilLog2(shape.ranks);
  return Move(link, depth, depth * static_cast<double>(call.bytes)) + Turns(link, depth);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank position = PositionOf(shape.rank, call.root, shape.ranks);
  const Slice data = Output(0, call.output_count);
  if (position != 0) {
    schedule->Receive(RankAt(Parent(position), call.root, shape.ranks), data);
    schedule->EndRound();
  }
  for (Rank bit = ChildBits(position, shape.ranks) / 2; bit > 0; bit /= 2)
    if (position + bit < shape.ranks)
      schedule->Send(RankAt(position + bit, call.root, shape.ranks), data);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kBcastBinomial{"binomial", Operation::kBcast, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
