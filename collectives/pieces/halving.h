// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: in each round a participant gives away the half of its window that its partner
// keeps, and folds what the partner gives it into the half it keeps itself. After log2 p rounds
// participant i has the complete reduction of block i.
//
// Operands meet in an order that is fixed but not the ranks', so the operation must be commutative.
#pragma once

#include "collectives/pieces/cost.h"
#include "collectives/pieces/power.h"

namespace lamina::collective {

// The time of halving a vector and of bringing the blocks together again in as many rounds.
inline double HalvingAndBackUs(const LinkModel& link, const PowerGroup& group, double bytes) {
  const double rounds = CeilLog2(group.participants());
  const double moved = (1 - 1.0 / group.participants()) * bytes;
  return MoveAtOnce(link, 2 * rounds, 2 * moved) + Combine(link, moved) + Turns(link, 2 * rounds);
}

// The blocks [first, last) that a participant still works on.
struct Window {
  Rank first;
  Rank last;
};

// Halves `window` and returns the part that is given away.
inline Window Halve(Window* window, bool keep_upper) {
  const Rank middle = (window->first + window->last) / 2;
  const Window lower{window->first, middle};
  const Window upper{middle, window->last};
  *window = keep_upper ? upper : lower;
  return keep_upper ? lower : upper;
}

// Plans the halving rounds of participant `index`. Before the first round its vector is in
// `value(window)`, unless `in_sum` says that it is in `sum(window)` already, as it is after every
// round. Once it is there, a partner's half lands in `arrival(window)`. Empty windows are not sent.
template <class Value, class Sum, class Arrival>
void PlanHalving(const PowerGroup& group, Rank index, bool in_sum, const Value& value,
                 const Sum& sum, const Arrival& arrival, Schedule* schedule) {
  Window window{0, group.participants()};
  for (Rank bit = group.participants() / 2; bit > 0; bit /= 2) {
    const Rank peer = group.RankOf(index ^ bit);
    const Window away = Halve(&window, (index & bit) != 0);
    const Slice landing = in_sum ? arrival(window) : sum(window);
    const Slice given = in_sum ? sum(away) : value(away);
    if (landing.count > 0) schedule->Receive(peer, landing);
    if (given.count > 0) schedule->Send(peer, given);
    if (landing.count > 0) schedule->Reduce(in_sum ? landing : value(window), sum(window));
    schedule->EndRound();
    in_sum = true;
  }
}

}  // namespace lamina::collective
