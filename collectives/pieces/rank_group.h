// SPDX-License-Identifier: BSD-3-Clause
// A way to add ranks so that as many of them as possible meet in pairs.
//
// If there are P = m * 2^k ranks, their last k bits are added without carry and the rest modulo m.
// If m is 1, r + gap and r - gap are the same rank, so both directions of an exchange end together
// and no line waits for another. And if nodes hold 2^k ranks, the partners of all ranks are either
// within their nodes or outside.
//
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66, for
//         powers of two.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

class RankGroup {
 public:
  explicit RankGroup(Rank ranks) : low_(ranks & -ranks), high_(ranks / low_) {}

  Rank Plus(Rank a, Rank b) const { return (a / low_ + b / low_) % high_ * low_ + Bits(a, b); }
  Rank Minus(Rank a, Rank b) const {
    return (a / low_ + high_ - b / low_) % high_ * low_ + Bits(a, b);
  }

 private:
  Rank Bits(Rank a, Rank b) const { return (a ^ b) & (low_ - 1); }

  Rank low_;   // 2^k
  Rank high_;  // m
};

}  // namespace lamina::collective
