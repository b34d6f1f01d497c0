// SPDX-License-Identifier: BSD-3-Clause
// The binomial tree over P positions, rooted at position 0, and the arithmetic of powers of two.
//
// The parent of a position is the position with its lowest set bit cleared; so the subtree of v is
// the interval [v, v + lowest bit of v), cut off at P, and the tree keeps the order of positions:
// a depth-first walk, children by increasing bit, meets 0, 1, 2, ...
#pragma once

#include <algorithm>
#include <bit>

#include "collectives/collective.h"

namespace lamina::collective {

// ceil(log2 n), which is 0 for n = 1.
inline int CeilLog2(Rank n) { return std::bit_width(static_cast<unsigned>(n - 1)); }
inline Rank PowerFloor(Rank n) {
  return static_cast<Rank>(std::bit_floor(static_cast<unsigned>(n)));
}
inline Rank PowerCeil(Rank n) { return static_cast<Rank>(std::bit_ceil(static_cast<unsigned>(n))); }

// The bits below the returned one lead to children.
inline Rank ChildBits(Rank position, Rank ranks) {
  return position == 0 ? PowerCeil(ranks) : position & -position;
}
inline Rank Parent(Rank position) { return position & (position - 1); }
// The position behind the last one of the subtree.
inline Rank SubtreeEnd(Rank position, Rank ranks) {
  return std::min(ranks, position + ChildBits(position, ranks));
}

// Positions count from the root, and go round behind the last rank.
inline Rank PositionOf(Rank rank, Rank root, Rank ranks) { return (rank - root + ranks) % ranks; }
inline Rank RankAt(Rank position, Rank root, Rank ranks) { return (position + root) % ranks; }

}  // namespace lamina::collective
