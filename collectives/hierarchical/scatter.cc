// SPDX-License-Identifier: BSD-3-Clause
// Scatter in stages: the root sends the leaders of the outermost groups the blocks of their groups,
// each of these sends the leaders within theirs, and so on. This is the gather in stages, reversed.
//
// Shape:  input P blocks at the root, output n elements on every rank; scratch of leaders for the
//         blocks of their group and for the inner algorithms.
// Cost:   per stage, a scatter of what each member stands for.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/side_by_side.h"

namespace lamina::collective::hierarchical {
namespace {

bool Fits(const Call&, const Shape& shape) { return HasRanges(shape); }

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  double cost_us = 0;
  for (const Span& span : Spans(shape))
    cost_us += CheapestUs(Operation::kScatter, call.bytes * span.below, span.ranks, span.link);
  return cost_us;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, call.root);
  if (shape.rank != call.root) {
    const Offsets offsets(call.output_count);
    return PlanInward(stages, stages.size(), offsets, call.bytes, Output(0, call.output_count), 0,
                      schedule);
  }
  const Offsets offsets(call.input_count);
  for (std::size_t i = stages.size(); i > 0; --i) {
    const Stage& stage = stages[i - 1];
    Spread(
        {stage, offsets, call.bytes, Output(0, 0), Input(offsets.Begin(stage.first()), 0), true, 0},
        schedule);
  }
  if (!call.in_place)
    schedule->Copy(Input(offsets.Begin(shape.rank), call.input_count),
                   Output(0, call.output_count));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScatter{"hierarchical", Operation::kScatter, Fits, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
