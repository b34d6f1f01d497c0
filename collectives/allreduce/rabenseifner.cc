// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, Rabenseifner: recursive halving leaves each rank with one reduced block, recursive
// doubling brings all blocks to all ranks.
//
// In each halving round a rank gives away the half its partner keeps and folds the half it keeps,
// so about 2 n elements move per rank instead of n log2 P. Every block is reduced at one place, so
// the bits agree everywhere; the partner's half may come from lower ranks, so the operation must be
// commutative.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   2 * floor(log2 P) * alpha + (1 - 1/p) * (2 n beta + n gamma), p = 2^floor(log2 P);
//         2 alpha + 2 n beta + n gamma more if P is no power of two.
// Source: Rabenseifner, ICCS 2004, LNCS 3036, 1-9.
#include <algorithm>

#include "collectives/algorithms.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/halving.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.commutative; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const PowerGroup group(shape.ranks);
  const double bytes = static_cast<double>(call.bytes);
  double cost = HalvingAndBackUs(link, group, bytes);
  if (group.participants() != shape.ranks)
    cost += Move(link, 2, 2 * bytes) + Combine(link, bytes) + Turns(link, 2);
  return cost;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const PowerGroup group(shape.ranks);
  const Rank rank = shape.rank;
  if (group.SitsOut(rank)) {
    schedule->Send(rank + 1, Input(0, count));
    schedule->EndRound();
    schedule->Receive(rank + 1, Output(0, count));
    return schedule->EndRound();
  }

  const Rank index = group.IndexOf(rank);
  const bool paired = group.Paired(rank);
  const Blocks blocks(count, group.participants());
  const auto at = [&](Where where, Window window) {
    return Slice{where, blocks.Begin(window.first), blocks.Count(window.first, window.last), -1};
  };
  schedule->scratch_elements = count;

  bool in_output = call.in_place;  // the value is in the output, not in the input
  if (paired) {
    const Where spare = call.in_place ? Where::kScratch : Where::kOutput;
    schedule->Receive(rank - 1, Slice{spare, 0, count, -1});
    schedule->Reduce(Slice{call.in_place ? spare : Where::kInput, 0, count, -1}, Output(0, count));
    schedule->EndRound();
    in_output = true;
  }

  PlanHalving(
      group, index, in_output, [&](Window window) { return at(Where::kInput, window); },
      [&](Window window) { return at(Where::kOutput, window); },
      [&](Window window) { return at(Where::kScratch, window); }, schedule);

  Window window{index, index + 1};
  for (Rank bit = 1; bit < group.participants(); bit *= 2) {
    const Rank peer = group.RankOf(index ^ bit);
    const Rank width = window.last - window.first;
    const Rank theirs = (index & bit) != 0 ? window.first - width : window.last;
    const Slice arrival = at(Where::kOutput, {theirs, theirs + width});
    const Slice own = at(Where::kOutput, window);
    if (arrival.count > 0) schedule->Receive(peer, arrival);
    if (own.count > 0) schedule->Send(peer, own);
    schedule->EndRound();
    window = {std::min(window.first, theirs), std::max(window.last, theirs + width)};
  }
  if (paired) {
    schedule->Send(rank - 1, Output(0, count));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllreduceRabenseifner{"rabenseifner", Operation::kAllreduce, Fits,
                                                 CostUs, Plan};

}  // namespace lamina::collective
