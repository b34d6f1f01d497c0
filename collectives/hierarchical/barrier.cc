// SPDX-License-Identifier: BSD-3-Clause
// Barrier in stages: every group reports to its leader, the leaders of the outermost groups meet,
// and everybody is released the same way back.
//
// Only the barrier of the leaders goes across nodes.
//
// Shape:  no data.
// Cost:   per stage, a gather and a bcast of nothing; at the top, a barrier.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include <algorithm>

#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/inner.h"

namespace lamina::collective::hierarchical {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  const std::vector<Span> spans = Spans(shape);
  double cost_us = CheapestUs(Operation::kBarrier, 0, spans.back().ranks, spans.back().link);
  for (std::size_t i = 0; i + 1 < spans.size(); ++i)
    cost_us += TimeIn(spans, i, Inner(call, Operation::kGather, 0)).all_us +
               TimeIn(spans, i, Inner(call, Operation::kBcast, 0)).all_us;
  return cost_us;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, kNobody);
  const auto append = [&](Operation operation, std::size_t i) {
    Call inner = Inner(call, operation, 0);
    inner.root = stages[i].leader;
    Append(inner, stages[i], {Scratch(0, 0), Scratch(0, 0)}, schedule);
  };
  const std::size_t levels = shape.hierarchy->levels.size();
  for (std::size_t i = 0; i < std::min(stages.size(), levels); ++i) append(Operation::kGather, i);
  if (stages.size() > levels) append(Operation::kBarrier, levels);
  for (std::size_t i = std::min(stages.size(), levels); i > 0; --i)
    append(Operation::kBcast, i - 1);
}

}  // namespace

constinit const Algorithm kBarrier =
    UsingBoards({"hierarchical", Operation::kBarrier, FitsLevels, CostUs, Plan});

}  // namespace lamina::collective::hierarchical
