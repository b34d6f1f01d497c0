// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, reduce then bcast: one binomial tree folds all vectors at rank 0, in rank order, and
// the same tree spreads the result.
//
// It takes 2 (P - 1) messages in all where recursive doubling takes P log2 P, so it is for links
// that many messages at once would crowd.
//
// Shape:  input and output n elements on every rank; scratch n where vectors are folded.
// Cost:   2 * ceil(log2 P) * (alpha + n * beta) + ceil(log2 P) * n * gamma.
// Source: MPI-5.0, section 6.9.6 (MPI_ALLREDUCE as MPI_REDUCE followed by MPI_BCAST).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce/binomial_fold.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double depth = CeilLog2(shape.ranks);
  const double bytes = depth * static_cast<double>(call.bytes);
  return Move(link, 2 * depth, 2 * bytes) + Combine(link, bytes) + Turns(link, 2 * depth);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Rank rank = shape.rank;
  const Slice result = Output(0, count);
  const Accumulator::Folds folds = FoldsOf(rank, shape.ranks);
  if (folds.right > 0) schedule->scratch_elements = count;

  Accumulator sum(schedule, Input(0, count), result, Scratch(0, count), call.in_place, folds);
  FoldSubtree(schedule, &sum, rank, 0, shape.ranks);
  if (rank == 0) {
    sum.Finish();
  } else {
    schedule->Send(Parent(rank), sum.value());
    schedule->EndRound();
    schedule->Receive(Parent(rank), result);
    schedule->EndRound();
  }
  for (Rank bit = ChildBits(rank, shape.ranks) / 2; bit > 0; bit /= 2)
    if (rank + bit < shape.ranks) schedule->Send(rank + bit, result);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAllreduceReduceBcast{"reduce_bcast", Operation::kAllreduce, AlwaysFits,
                                                CostUs, Plan};

}  // namespace lamina::collective
