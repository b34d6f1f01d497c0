// SPDX-License-Identifier: BSD-3-Clause
// Brings any number of ranks down to a power of two, in rank order.
//
// With P = 2^k + r, the first 2 r ranks form r neighbouring pairs; the even rank of a pair gives
// its vector to the odd one and sits out until it is given the result. So 2^k participants remain,
// each standing for an interval of ranks, in order.
#pragma once

#include "collectives/pieces/tree.h"

namespace lamina::collective {

class PowerGroup {
 public:
  explicit PowerGroup(Rank ranks)
      : participants_(PowerFloor(ranks)), pairs_(ranks - participants_) {}

  Rank participants() const { return participants_; }
  bool Paired(Rank rank) const { return rank < 2 * pairs_; }
  bool SitsOut(Rank rank) const { return Paired(rank) && rank % 2 == 0; }
  // The index of a rank that does not sit out among the participants, and back.
  Rank IndexOf(Rank rank) const { return Paired(rank) ? rank / 2 : rank - pairs_; }
  Rank RankOf(Rank index) const { return index < pairs_ ? 2 * index + 1 : index + pairs_; }

 private:
  Rank participants_;
  Rank pairs_;
};

}  // namespace lamina::collective
