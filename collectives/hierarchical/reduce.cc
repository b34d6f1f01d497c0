// SPDX-License-Identifier: BSD-3-Clause
// Reduce in stages: every group folds its vectors at its leader, the leaders of the groups within a
// larger one at the leader of that, and at last the leaders of the outermost groups at the root.
//
// The root leads all its groups. One vector leaves each group. If groups are not ranges of ranks,
// operands meet in the order of the groups, so the operation must be commutative; the order is the
// same in every call with this root. Long data go in segments.
//
// Shape:  input n elements on every rank, output n at the root; scratch of leaders for their
//         partial result and for the inner algorithms, for as many segments as there are strands.
// Cost:   s segments: one segment through all stages, and s - 1 times the slowest stage; with
//         boards s times all stages, because leaders do one after the other.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include <algorithm>

#include "collectives/hierarchical/fold.h"
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/segments.h"

namespace lamina::collective::hierarchical {
namespace {

bool Fits(const Call& call, const Shape& shape) { return Foldable(call, shape); }

Cut CutOf(const Call& call, const Shape& shape) {
  const std::vector<Span> spans = Spans(shape);
  return CutFor(call.bytes, FoldLimits(call), [&](std::int64_t bytes) {
    const auto time = [&](std::size_t i) {
      return TimeIn(spans, i, Inner(call, Operation::kReduce, bytes));
    };
    StageTime within = Whole(0);
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) within = within + time(i);
    const StageTime across = time(spans.size() - 1);
    return StrandsOf(call) == 1 ? std::vector{within + across} : std::vector{within, across};
  });
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  return CutOf(call, shape).cost_us;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, call.root);
  const bool at_root = shape.rank == call.root;
  const int segments = CutOf(call, shape).segments;
  const std::int64_t largest = Blocks(call.input_count, segments).Count(0, 1);
  const auto plan = [&](std::int64_t first, std::int64_t count, int strand) {
    const std::int64_t scratch = strand * (1 + kInnerVectors) * largest;
    const Slice home = at_root ? Output(first, count) : Scratch(scratch, count);
    Fold fold(call, Input(first, count), home, at_root && call.in_place, scratch + largest);
    for (std::size_t i = 0; i < stages.size(); ++i) fold.Up(stages[i], schedule);
  };
  // A leader's partial results need scratch even if no inner algorithm does.
  if (!at_root && stages.front().leads())
    schedule->scratch_elements =
        std::min(segments, StrandsOf(call)) * (1 + kInnerVectors) * largest;
  EachSegment(call.input_count, segments, StrandsOf(call), schedule, plan);
}

}  // namespace

constinit const Algorithm kReduce =
    UsingBoards({"hierarchical", Operation::kReduce, Fits, CostUs, Plan});

}  // namespace lamina::collective::hierarchical
