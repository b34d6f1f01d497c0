// SPDX-License-Identifier: BSD-3-Clause
// Gather in stages: every group collects its blocks at its leader, outward, until the root has all.
//
// The root leads all its groups, so its blocks arrive where they belong; other leaders collect in
// scratch. Groups must be ranges of ranks. Only the messages of a gather among their leaders cross
// between the outermost groups, instead of one for every rank.
//
// Shape:  input n elements on every rank, output P blocks at the root; scratch of leaders for the
//         blocks of their group and for the inner algorithms.
// Cost:   per stage, a gather of what each member stands for.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/side_by_side.h"

namespace lamina::collective::hierarchical {
namespace {

bool Fits(const Call&, const Shape& shape) { return HasRanges(shape); }

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  double cost_us = 0;
  for (const Span& span : Spans(shape))
    cost_us += CheapestUs(Operation::kGather, call.bytes * span.below, span.ranks, span.link);
  return cost_us;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, call.root);
  const bool at_root = shape.rank == call.root;
  const Offsets offsets(at_root ? call.output_count : call.input_count);
  std::int64_t kept = 0;  // how many elements of scratch hold blocks
  for (const Stage& stage : stages)
    if (!at_root && stage.leads() && !stage.alone()) kept = offsets.Of(stage);
  schedule->scratch_elements = kept;

  Slice own = Input(0, call.input_count);
  bool own_in_whole = call.in_place;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    if (stage.alone()) continue;
    const Slice whole = at_root ? Output(offsets.Begin(stage.first()), 0) : Scratch(0, 0);
    Collect({stage, offsets, call.bytes, own, whole, own_in_whole, kept}, schedule);
    own = {whole.where, whole.first, offsets.Of(stage), -1};
    own_in_whole = true;
  }
}

}  // namespace

constinit const Algorithm kGather{"hierarchical", Operation::kGather, Fits, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
