// SPDX-License-Identifier: BSD-3-Clause
// Reducing from stage to stage: what reduce and allreduce share.
#pragma once

#include "collectives/hierarchical/inner.h"

namespace lamina::collective::hierarchical {

// The partial result of one segment on its way outward.
class Fold {
 public:
  // `input` is this rank's operand, and `home` is where the result of its folds belongs. If
  // `in_place` is set, the input is where `home` is. Scratch is used from `scratch` on.
  Fold(const Call& call, const Slice& input, const Slice& home, bool in_place, std::int64_t scratch)
      : call_(call), value_(input), home_(home), at_home_(in_place), scratch_(scratch) {}

  // Reduces to the leader of the stage.
  void Up(const Stage& stage, Schedule* schedule) {
    if (stage.alone()) return;
    Append(Inner(Operation::kReduce, stage), stage, {value_, home_, scratch_}, schedule);
    if (stage.leads()) Settle();
  }
  // Reduces to all members of the stage, each of which has its value at home already.
  void Among(const Stage& stage, Schedule* schedule) {
    Append(Inner(Operation::kAllreduce, stage), stage, {value_, home_, scratch_}, schedule);
  }
  // Brings home the value of a rank that has folded nothing yet.
  void BringHome(Schedule* schedule) {
    if (at_home_) return;
    schedule->Copy(value_, home_);
    schedule->EndRound();
    Settle();
  }

 private:
  Call Inner(Operation operation, const Stage& stage) const {
    Call inner;
    inner.operation = operation;
    inner.commutative = call_.commutative;
    inner.board = call_.board;
    inner.root = stage.leader;
    inner.bytes = call_.bytes / call_.input_count * home_.count;
    inner.in_place = at_home_ && (operation == Operation::kAllreduce || stage.leads());
    inner.all_in_place = operation == Operation::kAllreduce;
    inner.input_count = inner.output_count = home_.count;
    return inner;
  }
  void Settle() {
    value_ = home_;
    at_home_ = true;
  }

  const Call& call_;
  Slice value_;
  const Slice home_;
  bool at_home_;
  const std::int64_t scratch_;
};

// True if a reduction can be done in stages. If groups are not ranges of ranks, operands come out
// of rank order, so the operation must be commutative.
inline bool Foldable(const Call& call, const Shape& shape) {
  return call.commutative ? shape.hierarchy != nullptr : HasRanges(shape);
}

// No inner algorithm for reduce or allreduce uses more scratch than this many vectors.
inline constexpr int kInnerVectors = 2;

}  // namespace lamina::collective::hierarchical
