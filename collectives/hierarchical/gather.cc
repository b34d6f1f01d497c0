// SPDX-License-Identifier: BSD-3-Clause
// Gather in stages: every group collects its blocks at its leader, outward, until the root has all.
// Scatter is the same reversed: the root sends the leaders of the outermost groups the blocks of
// their groups, each of these sends the leaders within theirs, and so on.
//
// The root leads all its groups, so its blocks arrive where they belong; other leaders keep theirs
// in scratch. Groups must be ranges of ranks. Only the messages of a gather or scatter among their
// leaders cross between the outermost groups, instead of one for every rank.
//
// Shape:  n elements on every rank, P blocks at the root; scratch of leaders for the blocks of
//         their group and for the inner algorithms.
// Cost:   per stage, a gather or scatter of what each member stands for.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/side_by_side.h"

namespace lamina::collective::hierarchical {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  double cost_us = 0;
  for (const Span& span : Spans(shape))
    cost_us += CheapestUs(call.operation, call.bytes * span.below, span.ranks, span.link);
  return cost_us;
}

void PlanGather(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, call.root);
  const bool at_root = shape.rank == call.root;
  const Offsets offsets(at_root ? call.output_count : call.input_count);
  std::int64_t kept = 0;  // how many elements of scratch hold blocks
  for (const Stage& stage : stages)
    if (!at_root && stage.leads() && !stage.alone()) kept = offsets.Of(stage);
  schedule->scratch_elements = kept;

  Slice own = Input(0, call.input_count);
  bool own_in_whole = call.in_place;
  for (const Stage& stage : stages) {
    if (stage.alone()) continue;
    const Slice whole = at_root ? Output(offsets.Begin(stage.first()), 0) : Scratch(0, 0);
    Collect({stage, offsets, call.bytes, own, whole, own_in_whole, kept}, schedule);
    own = {whole.where, whole.first, offsets.Of(stage), -1};
    own_in_whole = true;
  }
}

void PlanScatter(const Call& call, const Shape& shape, Schedule* schedule) {
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

constinit const Algorithm kGather{"hierarchical", Operation::kGather, FitsRanges, CostUs,
                                  PlanGather};
constinit const Algorithm kScatter{"hierarchical", Operation::kScatter, FitsRanges, CostUs,
                                   PlanScatter};

}  // namespace lamina::collective::hierarchical
