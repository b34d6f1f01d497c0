// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, recursive doubling: in round k, ranks that differ in bit k swap what they have and
// both fold it, the lower one's on the left.
//
// Both compute the same expression over neighbouring intervals of ranks, so the bits agree
// everywhere and the operation need not be commutative. Ranks beyond a power of two join a
// neighbour first.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   ceil(log2 P) * (alpha + n * beta + n * gamma), and 2 alpha + 2 n beta + n gamma more
//         if P is no power of two.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/accumulator.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/power.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const PowerGroup group(shape.ranks);
  const bool pairs = group.participants() != shape.ranks;
  const double rounds = CeilLog2(group.participants());
  const double bytes = static_cast<double>(call.bytes);
  const double hops = rounds + (pairs ? 2 : 0);
  return MoveAtOnce(link, hops, hops * bytes) + Combine(link, (rounds + (pairs ? 1 : 0)) * bytes) +
         Turns(link, hops);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const PowerGroup group(shape.ranks);
  const Slice result = Output(0, count);
  if (group.SitsOut(shape.rank)) {
    schedule->Send(shape.rank + 1, Input(0, count));
    schedule->EndRound();
    schedule->Receive(shape.rank + 1, result);
    return schedule->EndRound();
  }

  const Rank index = group.IndexOf(shape.rank);
  const bool paired = group.Paired(shape.rank);
  Accumulator::Folds folds{0, !paired && index % 2 == 0};
  for (Rank bit = 1; bit < group.participants(); bit *= 2)
    if ((index & bit) == 0) ++folds.right;
  schedule->scratch_elements = count;
  Accumulator sum(schedule, Input(0, count), result, Scratch(0, count), call.in_place, folds);

  if (paired) {
    schedule->Receive(shape.rank - 1, sum.spare());
    sum.FoldLeft();
    schedule->EndRound();
  }
  for (Rank bit = 1; bit < group.participants(); bit *= 2) {
    const Rank peer = group.RankOf(index ^ bit);
    schedule->Receive(peer, sum.spare());
    schedule->Send(peer, sum.value());
    if ((index & bit) == 0)
      sum.FoldRight();
    else
      sum.FoldLeft();
    schedule->EndRound();
  }
  sum.Finish();
  if (paired) {
    schedule->Send(shape.rank - 1, result);
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllreduceRecursiveDoubling{"recursive_doubling", Operation::kAllreduce,
                                                      AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
