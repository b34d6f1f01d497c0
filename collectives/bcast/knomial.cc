// SPDX-License-Identifier: BSD-3-Clause
// Bcast, k-nomial tree: like the binomial tree, but every position has up to k - 1 children on each
// level, so the tree has fewer levels.
//
// Positions are written with digits 0..k-1, and the parent of one is the position with the lowest
// digit above 0 cleared. A parent's messages leave one after the other, which is cheaper than one
// level more as long as they are short. Here k is 4, which halves the number of levels.
//
// Shape:  output n bytes on every rank.
// Cost:   ceil(log4 P) * (alpha + 2 * overhead + 3 n * beta); P - 1 messages of n bytes in all.
// Source: Johnsson, Ho, IEEE Trans. Comput. 38 (1989) 1249-1268 (the tree for k = 2).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

constexpr std::int64_t kRadix = 4;

bool Fits(const Call&, const Shape& shape) { return shape.ranks > 2; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  double levels = 0;
  for (std::int64_t reached = 1; reached < shape.ranks; reached *= kRadix) ++levels;
  const double children = kRadix - 1;
  return levels * Burst(link, children, children * static_cast<double>(call.bytes)) +
         Turns(link, levels);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t ranks = shape.ranks;
  const std::int64_t position = PositionOf(shape.rank, call.root, shape.ranks);
  const auto at = [&](std::int64_t of) {
    return RankAt(static_cast<Rank>(of), call.root, shape.ranks);
  };
  const Slice data = Output(0, call.output_count);

  std::int64_t place = 1;  // value of the lowest digit above 0, or one beyond all for the root
  while (place < ranks && position / place % kRadix == 0) place *= kRadix;
  if (position != 0) {
    schedule->Receive(at(position - position / place % kRadix * place), data);
    schedule->EndRound();
  }
  for (place /= kRadix; place > 0; place /= kRadix)
    for (std::int64_t digit = 1; digit < kRadix; ++digit)
      if (position + digit * place < ranks) schedule->Send(at(position + digit * place), data);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kBcastKnomial{"knomial", Operation::kBcast, Fits, CostUs, Plan};

}  // namespace lamina::collective
