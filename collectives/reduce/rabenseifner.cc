// SPDX-License-Identifier: BSD-3-Clause
// Reduce, Rabenseifner: recursive halving leaves each rank with one reduced block, a binomial tree
// gathers the blocks at the root.
//
// About 2 n elements pass through the busiest rank, where the binomial tree passes n log2 P, so
// this is for long vectors. Halving folds ranks that are far apart first, so the operation must be
// commutative. A root that sits out the halving takes its partner's place in the gathering.
//
// Shape:  input n elements on every rank, output n at the root; scratch 2 n where ranks fold.
// Cost:   2 * floor(log2 P) * alpha + (1 - 1/p) * (2 n beta + n gamma), p = 2^floor(log2 P);
//         alpha + n beta + n gamma more if P is no power of two.
// Source: Rabenseifner, ICCS 2004, LNCS 3036, 1-9.
#include "collectives/algorithms.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/halving.h"

namespace lamina::collective {
namespace {

// Two or three ranks would move as many elements as one of them hands to the other, in more
// messages.
bool Fits(const Call& call, const Shape& shape) { return call.commutative && shape.ranks > 3; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const PowerGroup group(shape.ranks);
  const double bytes = static_cast<double>(call.bytes);
  double cost = HalvingAndBackUs(link, group, bytes);
  if (group.participants() != shape.ranks)
    cost += Move(link, 1, bytes) + Combine(link, bytes) + Turns(link, 1);
  return cost;
}

// Brings the blocks together at the root, the reverse of halving: in each round the half of the
// holders that is on the wrong side hands over what it has. This rank is holder `index`. The root
// is a holder even if its partner was the participant.
void PlanGather(const PowerGroup& group, Rank index, Rank root, bool at_root, const Blocks& blocks,
                Schedule* schedule) {
  const Rank target = group.Paired(root) ? root / 2 : group.IndexOf(root);
  const auto rank_of = [&](Rank holder) { return holder == target ? root : group.RankOf(holder); };
  for (Rank bit = 1; bit < group.participants(); bit *= 2) {
    const auto held = [&](Rank holder) {
      const Rank first = holder & -bit;
      return Slice{at_root ? Where::kOutput : Where::kScratch, blocks.Begin(first),
                   blocks.Count(first, first + bit), -1};
    };
    const bool gives = ((index ^ target) & bit) != 0;
    if (gives && held(index).count > 0) schedule->Send(rank_of(index ^ bit), held(index));
    if (!gives && held(index ^ bit).count > 0)
      schedule->Receive(rank_of(index ^ bit), held(index ^ bit));
    schedule->EndRound();
    if (gives) return;
  }
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const PowerGroup group(shape.ranks);
  const Rank rank = shape.rank;
  const bool at_root = rank == call.root;
  const Blocks blocks(count, group.participants());
  const auto at = [&](Where where, std::int64_t begin, Window window) {
    return Slice{where, begin + blocks.Begin(window.first), blocks.Count(window.first, window.last),
                 -1};
  };
  if (group.SitsOut(rank)) {
    schedule->Send(rank + 1, Input(0, count));
    schedule->EndRound();
    if (!at_root) return;
    const Slice own = at(Where::kOutput, 0, {rank / 2, rank / 2 + 1});
    if (own.count > 0) schedule->Receive(rank + 1, own);
    schedule->EndRound();
    return PlanGather(group, rank / 2, call.root, at_root, blocks, schedule);
  }

  // The root folds where the result is wanted, unless its operand is there.
  const Where home = at_root && !call.in_place ? Where::kOutput : Where::kScratch;
  schedule->scratch_elements = 2 * count;
  const bool paired = group.Paired(rank);
  if (paired) {
    const Slice arrival{home, 0, count, -1};
    schedule->Receive(rank - 1, arrival);
    schedule->Reduce(Input(0, count), arrival);
    schedule->EndRound();
  }
  const Rank index = group.IndexOf(rank);
  PlanHalving(
      group, index, paired, [&](Window window) { return at(Where::kInput, 0, window); },
      [&](Window window) { return at(home, 0, window); },
      [&](Window window) { return at(Where::kScratch, count, window); }, schedule);

  const Slice own = at(home, 0, {index, index + 1});
  if (paired && call.root == rank - 1) {
    if (own.count > 0) schedule->Send(call.root, own);
    return schedule->EndRound();
  }
  if (at_root && call.in_place) {
    schedule->Copy(own, Output(own.first, own.count));
    schedule->EndRound();
  }
  PlanGather(group, index, call.root, at_root, blocks, schedule);
}

}  // namespace

constinit const Algorithm kReduceRabenseifner{"rabenseifner", Operation::kReduce, Fits, CostUs,
                                              Plan};

}  // namespace lamina::collective
