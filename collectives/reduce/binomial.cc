// SPDX-License-Identifier: BSD-3-Clause
// Reduce, binomial tree around the root: every position folds its children's vectors into its own
// and passes the result to its parent.
//
// Positions count from the root, so ranks below the root come last: the order of operands is
// rotated and the operation must be commutative. The order is the same in every call with this
// root.
//
// Shape:  input n elements on every rank, output n at the root; scratch 2 n at inner positions,
//         n at the root.
// Cost:   ceil(log2 P) * (alpha + n * beta + n * gamma); P - 1 messages of n elements in all.
// Source: Johnsson, Ho, IEEE Trans. Comput. 38 (1989) 1249-1268 (the broadcast, reversed).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce/binomial_fold.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.commutative; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double depth = CeilLog2(shape.ranks);
  const double bytes = depth * static_cast<double>(call.bytes);
  return Move(link, depth, bytes) + Combine(link, bytes) + Turns(link, depth);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank position = PositionOf(shape.rank, call.root, shape.ranks);
  const bool at_root = position == 0;
  const Accumulator::Folds folds = FoldsOf(position, shape.ranks);
  const Slice home = at_root ? Output(0, count) : Scratch(count, count);
  if (folds.right > 0) schedule->scratch_elements = at_root ? count : 2 * count;

  Accumulator sum(schedule, Input(0, count), home, Scratch(0, count), at_root && call.in_place,
                  folds);
  FoldSubtree(schedule, &sum, position, call.root, shape.ranks);
  if (at_root) return sum.Finish();
  schedule->Send(RankAt(Parent(position), call.root, shape.ranks), sum.value());
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceBinomial{"binomial", Operation::kReduce, Fits, CostUs, Plan};

}  // namespace lamina::collective
