// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter(_block) in stages: every group folds its whole vectors at its leader, the leaders
// of the outermost groups do a reduce_scatter by groups, and each group scatters its part.
//
// Only the messages of a reduce_scatter among the leaders cross between the outermost groups.
// Groups must be ranges of ranks, so that a group's part is one piece.
//
// Shape:  input N elements on every rank (N = P * n in the block form), output the rank's block;
//         scratch of leaders for N elements, for the part of their group and for the inner
//         algorithms.
// Cost:   per stage, a reduce of N and a scatter of what each member stands for; at the top, a
//         reduce_scatter.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include <algorithm>

#include "collectives/hierarchical/fold.h"
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/side_by_side.h"

namespace lamina::collective::hierarchical {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  const bool block = call.operation == Operation::kReduceScatterBlock;
  const std::int64_t all = block ? call.bytes * shape.ranks : call.bytes;
  const std::vector<Span> spans = Spans(shape);
  double cost_us = CheapestUs(Inner(call, Operation::kReduceScatter, all), spans.back().ranks,
                              spans.back().link);
  for (std::size_t i = 0; i + 1 < spans.size(); ++i)
    cost_us += CheapestUs(Inner(call, Operation::kReduce, all), spans[i].ranks, spans[i].link) +
               CheapestUs(Operation::kScatter, all / shape.ranks * spans[i].below, spans[i].ranks,
                          spans[i].link);
  return cost_us;
}

// Among the leaders of the outermost groups: the vectors are reduced, and each leader gets the part
// of its group.
void Share(const Call& vector, const Stage& stage, const Offsets& offsets, const Places& places,
           Schedule* schedule) {
  const Member& own = stage.members[static_cast<std::size_t>(stage.own)];
  Call inner = Inner(vector, Operation::kReduceScatter, vector.bytes);
  inner.input_count = inner.output_count = offsets.Of(own);
  std::vector<std::int64_t> counts;
  if (offsets.Even(stage)) {
    inner.operation = Operation::kReduceScatterBlock;
    inner.bytes = vector.bytes / stage.size();
  } else {
    for (const Member& member : stage.members) counts.push_back(offsets.Of(member));
    inner.output_counts = counts;
  }
  Append(inner, stage, places, schedule);
}

void PlanBy(const Offsets& offsets, std::int64_t bytes, const Call& call, const Shape& shape,
            Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, kNobody);
  const std::size_t levels = shape.hierarchy->levels.size();
  const std::size_t inner_stages = std::min(stages.size(), levels);
  const std::int64_t all = offsets.Begin(shape.ranks);
  const std::int64_t own = offsets.Begin(shape.rank + 1) - offsets.Begin(shape.rank);
  Call vector = call;
  vector.input_count = all;
  vector.bytes = bytes;

  const bool leads = stages.front().leads();
  const std::int64_t folded = leads ? all : 0;  // how much of scratch holds the group's vector
  schedule->scratch_elements = folded;
  Fold fold(vector, Input(0, all), Scratch(0, all), false, folded);
  for (std::size_t i = 0; i < inner_stages; ++i) fold.Up(stages[i], schedule);
  if (stages.size() > levels) {
    fold.BringHome(schedule);
    const Stage& top = stages[levels];
    const Member& group = top.members[static_cast<std::size_t>(top.own)];
    const std::int64_t part = group.size == 1 ? 0 : offsets.Of(group);
    schedule->scratch_elements = std::max(schedule->scratch_elements, folded + part);
    const Slice into = group.size == 1 ? Output(0, own) : Scratch(folded, part);
    Share(vector, top, offsets, {Scratch(0, all), into, folded + part}, schedule);
  }
  PlanInward(stages, inner_stages, offsets, bytes / shape.ranks, Output(0, own), folded, schedule);
}

void PlanBlock(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanBy(Offsets(call.input_count), call.bytes * shape.ranks, call, shape, schedule);
}

void PlanVector(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanBy(Offsets(call.output_counts), call.bytes, call, shape, schedule);
}

}  // namespace

constinit const Algorithm kReduceScatterBlock{"hierarchical", Operation::kReduceScatterBlock,
                                              FitsRanges, CostUs, PlanBlock};
constinit const Algorithm kReduceScatter{"hierarchical", Operation::kReduceScatter, FitsRanges,
                                         CostUs, PlanVector};

}  // namespace lamina::collective::hierarchical
