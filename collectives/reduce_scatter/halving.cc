// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter, recursive halving: in each round a rank gives away the blocks of the half of the
// ranks that it is not in, and folds what it gets for its own half.
//
// If the number of ranks is a power of two, there are as few rounds as possible and no byte moves
// more than once. Otherwise the even rank of a pair gives its whole vector away and is given its
// block in the end.
// Halving folds ranks that are far apart first, so the operation must be commutative.
//
// Shape:  input N elements in P blocks n_i, output n_i on rank i; scratch 2 N where ranks fold.
// Cost:   floor(log2 P) * alpha + (1 - 1/p) * N * (beta + gamma), p = 2^floor(log2 P), for equal
//         blocks; 2 alpha + (1 + 1/P) * N * beta + N * gamma more if P is no power of two.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/pieces/halving.h"

#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce_scatter/result_blocks.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.commutative; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const PowerGroup group(shape.ranks);
  const double rounds = CeilLog2(group.participants());
  const double bytes = BytesOfAll(call, shape);
  const double moved = (1 - 1.0 / group.participants()) * bytes;
  double cost = MoveAtOnce(link, rounds, moved) + Combine(link, moved) + Turns(link, rounds);
  if (group.participants() != shape.ranks)
    cost += Move(link, 2, bytes + bytes / shape.ranks) + Combine(link, bytes) + Turns(link, 2);
  return cost;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank rank = shape.rank;
  const PowerGroup group(shape.ranks);
  const ResultBlocks blocks(call, shape);
  const std::int64_t all = blocks.elements();
  const std::int64_t own = blocks.Count(rank);
  if (group.SitsOut(rank)) {
    schedule->Send(rank + 1, Input(0, all));
    schedule->EndRound();
    if (own > 0) schedule->Receive(rank + 1, Output(0, own));
    return schedule->EndRound();
  }

  // A participant has the block of its rank, and before it the block of the rank it stands for.
  const auto begin = [&](Rank index) {
    if (index == group.participants()) return all;
    const Rank first = group.RankOf(index);
    return blocks.Begin(group.Paired(first) ? first - 1 : first);
  };
  const auto at = [&](Where where, std::int64_t base, Window window) {
    return Slice{where, base + begin(window.first), begin(window.last) - begin(window.first), -1};
  };
  schedule->scratch_elements = 2 * all;
  const bool paired = group.Paired(rank);
  if (paired) {
    schedule->Receive(rank - 1, Scratch(0, all));
    schedule->Reduce(Input(0, all), Scratch(0, all));
    schedule->EndRound();
  }
  PlanHalving(
      group, group.IndexOf(rank), paired,
      [&](Window window) { return at(Where::kInput, 0, window); },
      [&](Window window) { return at(Where::kScratch, 0, window); },
      [&](Window window) { return at(Where::kScratch, all, window); }, schedule);
  if (paired && blocks.Count(rank - 1) > 0)
    schedule->Send(rank - 1, Scratch(blocks.Begin(rank - 1), blocks.Count(rank - 1)));
  if (own > 0) schedule->Copy(Scratch(blocks.Begin(rank), own), Output(0, own));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceScatterHalving{"halving", Operation::kReduceScatter, Fits, CostUs,
                                                Plan};
constinit const Algorithm kReduceScatterBlockHalving{"halving", Operation::kReduceScatterBlock,
                                                     Fits, CostUs, Plan};

}  // namespace lamina::collective
