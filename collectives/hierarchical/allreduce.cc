// SPDX-License-Identifier: BSD-3-Clause
// Allreduce in stages: vectors are reduced outward to the leaders, the leaders of the outermost
// groups do an allreduce, and the result is broadcast inward.
//
// One vector leaves each group and one comes in, whatever the number of its ranks. The result is
// made once and copied within the groups, so all ranks have the same bits. If groups are not ranges
// of ranks, the operation must be commutative. Long data go in segments, so that the stages work at
// the same time.
//
// Shape:  input and output n elements on every rank; scratch for the inner algorithms, for as many
//         segments as there are strands.
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

// A plan with boards, where ranks share CPUs, has as few segments as possible: each round of the
// leaders costs turns of all ranks, and no rank has time for another stage meanwhile.
CutLimits LimitsOf(const Call& call, const LinkModel& within) {
  if (!call.board || within.crowd <= 1) return FoldLimits(call);
  const std::int64_t fewest = (call.bytes - 1) / kFoldBytesMaxWhereCrowded + 1;
  return {static_cast<int>(fewest), kFoldBytesMaxWhereCrowded};
}

Cut CutOf(const Call& call, const Shape& shape) {
  const std::vector<Span> spans = Spans(shape);
  return CutFor(call.bytes, LimitsOf(call, spans.front().link), [&](std::int64_t bytes) {
    const auto time = [&](Operation operation, std::size_t i) {
      return TimeIn(spans, i, Inner(call, operation, bytes));
    };
    // Within the outermost groups the leaders work for all stages, so only what crosses overlaps.
    StageTime within = Whole(0);
    for (std::size_t i = 0; i + 1 < spans.size(); ++i)
      within = within + time(Operation::kReduce, i) + time(Operation::kBcast, i);
    const StageTime across = time(Operation::kAllreduce, spans.size() - 1);
    return StrandsOf(call) == 1 ? std::vector{within + across} : std::vector{within, across};
  });
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  return CutOf(call, shape).cost_us;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, kNobody);
  const std::size_t levels = shape.hierarchy->levels.size();
  const int segments = CutOf(call, shape).segments;
  const std::int64_t largest = Blocks(call.input_count, segments).Count(0, 1);
  const auto plan = [&](std::int64_t first, std::int64_t count, int strand) {
    const Slice home = Output(first, count);
    Fold fold(call, Input(first, count), home, call.in_place, strand * kInnerVectors * largest);
    const std::size_t inner_stages = std::min(stages.size(), levels);
    for (std::size_t i = 0; i < inner_stages; ++i) fold.Up(stages[i], schedule);
    if (stages.size() > levels) {
      fold.BringHome(schedule);
      fold.Among(stages[levels], schedule);
    }
    for (std::size_t i = inner_stages; i > 0; --i)
      AppendBcast(call, stages[i - 1], home, call.bytes / call.input_count * count, schedule);
  };
  EachSegment(call.input_count, segments, StrandsOf(call), schedule, plan);
}

}  // namespace

constinit const Algorithm kAllreduce =
    UsingBoards({"hierarchical", Operation::kAllreduce, Fits, CostUs, Plan});

}  // namespace lamina::collective::hierarchical
