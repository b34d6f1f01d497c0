// SPDX-License-Identifier: BSD-3-Clause
// A vector that operands from the left and from the right are folded into, in rank order.
//
// The reduction verb leaves its result where the right operand was. So folding in an operand from
// the right moves the value to where that operand was received: value and spare change places, and
// nothing is copied. The accumulator knows all folds beforehand, so it can choose the first place
// such that the value ends at home.
//
//   fold    before                     verb                    after
//   right   value = a, spare = b       spare = value op spare  spare is the value
//   left    value = a, spare = b       value = spare op value  unchanged places
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

class Accumulator {
 public:
  struct Folds {
    int right = 0;             // how many folds from the right there will be
    bool first_right = false;  // the very first fold is one of them
  };

  // The value is the input at first. `home` and `spare` are two slices of the vector's size.
  // `input_is_home` says that the operation is in place and the input is where `home` is.
  Accumulator(Schedule* schedule, const Slice& input, const Slice& home, const Slice& spare,
              bool input_is_home, Folds folds)
      : schedule_(schedule), home_(home), other_(spare), value_(input), still_input_(true) {
    if (input_is_home) {
      value_ = home;
      spare_ = spare;
      still_input_ = false;
      return;
    }
    const int swaps_after_first = folds.right - (folds.first_right ? 1 : 0);
    const bool first_value_at_home = swaps_after_first % 2 == 0;
    const bool first_spare_at_home = folds.first_right == first_value_at_home;
    spare_ = first_spare_at_home ? home : spare;
  }

  // Where the value is. It may be sent from there.
  const Slice& value() const { return value_; }
  // Where the next operand is to be received.
  const Slice& spare() const { return spare_; }

  void FoldRight() {
    schedule_->Reduce(value_, spare_);
    const Slice old = still_input_ ? Opposite(spare_) : value_;
    value_ = spare_;
    spare_ = old;
    still_input_ = false;
  }

  void FoldLeft() {
    Own();
    schedule_->Reduce(spare_, value_);
  }

  // Makes the value leave the input, by a copy in the current round.
  void Own() {
    if (!still_input_) return;
    schedule_->Copy(value_, Opposite(spare_));
    value_ = Opposite(spare_);
    still_input_ = false;
  }

  // Brings the value home, in a round of its own unless it is there already.
  void Finish() {
    Own();
    if (value_.where == home_.where && value_.first == home_.first) return;
    schedule_->Copy(value_, home_);
    schedule_->EndRound();
  }

 private:
  const Slice& Opposite(const Slice& slice) const {
    return slice.where == home_.where && slice.first == home_.first ? other_ : home_;
  }

  Schedule* schedule_;
  Slice home_;
  Slice other_;
  Slice value_;
  Slice spare_;
  bool still_input_;
};

}  // namespace lamina::collective
