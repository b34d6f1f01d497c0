// SPDX-License-Identifier: BSD-3-Clause
// Reduce and allreduce in stages: every group folds its vectors at its leader, the leaders of the
// groups within a larger one at the leader of that. At last the leaders of the outermost groups
// fold theirs at the root, or do an allreduce and the result is broadcast inward.
//
// The root leads all its groups. One vector leaves each group, and in an allreduce one comes in,
// whatever the number of its ranks. If groups are not ranges of ranks, operands meet in the order
// of the groups, so the operation must be commutative; the order is the same in every call with
// this root. The result of an allreduce is made once and copied within the groups, so all ranks
// have the same bits. Long data go in segments, so that the stages work at the same time.
//
// Shape:  input n elements on every rank, output n at the root or on every rank; scratch for the
//         inner algorithms and, in a reduce, for the partial results of leaders, for as many
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

// An allreduce with boards, where ranks share CPUs, has as few segments as possible: each round of
// the leaders costs turns of all ranks, and no rank has time for another stage meanwhile.
CutLimits LimitsOf(const Call& call, const LinkModel& within) {
  if (call.operation == Operation::kReduce || !call.board || within.crowd <= 1)
    return {kFoldSegmentsMax, call.board ? kFoldBytesMaxAtBoard : kFoldBytesMax};
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
    for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
      within = within + time(Operation::kReduce, i);
      if (call.operation == Operation::kAllreduce) within = within + time(Operation::kBcast, i);
    }
    const StageTime across = time(call.operation, spans.size() - 1);
    return StrandsOf(call) == 1 ? std::vector{within + across} : std::vector{within, across};
  });
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  return CutOf(call, shape).cost_us;
}

void PlanReduce(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, call.root);
  const bool at_root = shape.rank == call.root;
  const int segments = CutOf(call, shape).segments;
  const std::int64_t largest = Blocks(call.input_count, segments).Count(0, 1);
  const auto plan = [&](std::int64_t first, std::int64_t count, int strand) {
    const std::int64_t scratch = strand * (1 + kInnerVectors) * largest;
    const Slice home = at_root ? Output(first, count) : Scratch(scratch, count);
    Fold fold(call, Input(first, count), home, at_root && call.in_place, scratch + largest);
    for (const Stage& stage : stages) fold.Up(stage, schedule);
  };
  // A leader's partial results need scratch even if no inner algorithm does.
  if (!at_root && stages.front().leads())
    schedule->scratch_elements =
        std::min(segments, StrandsOf(call)) * (1 + kInnerVectors) * largest;
  EachSegment(call.input_count, segments, StrandsOf(call), schedule, plan);
}

void PlanAllreduce(const Call& call, const Shape& shape, Schedule* schedule) {
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

constinit const Algorithm kReduce =
    UsingBoards({"hierarchical", Operation::kReduce, Foldable, CostUs, PlanReduce});
constinit const Algorithm kAllreduce =
    UsingBoards({"hierarchical", Operation::kAllreduce, Foldable, CostUs, PlanAllreduce});

}  // namespace lamina::collective::hierarchical
