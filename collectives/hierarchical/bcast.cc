// SPDX-License-Identifier: BSD-3-Clause
// Bcast in stages: the root to those that stand for the outermost groups, each of these to those
// that stand for the groups within, and so on to every rank.
//
// The root stands for all its groups, so it starts at once. Long data go in segments: while the
// leader of a node passes one on to its neighbours, the next one comes in from another node. Where
// that is predicted to be faster, the outermost leaders form a chain, so that each sends every byte
// once, whatever their number.
//
// Shape:  output n bytes on every rank.
// Cost:   s segments: one segment through all stages, and s - 1 times the slowest stage. Across
//         the outermost groups go as many bytes as a bcast among their leaders moves.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/inner.h"
#include "collectives/hierarchical/segments.h"
#include "collectives/plan/cost.h"
#include "collectives/plan/tree.h"

namespace lamina::collective::hierarchical {
namespace {

bool Fits(const Call&, const Shape& shape) { return shape.topology != nullptr; }

struct Way {
  Cut cut;
  bool chain;  // the leaders of the outermost groups pass segments on one to the next
};

Way WayFor(const Call& call, const Shape& shape) {
  const std::vector<Span> spans = Spans(shape);
  const auto stages = [&](std::int64_t bytes, bool chain) {
    std::vector<StageTime> all;
    for (std::size_t i = 0; i < spans.size() - (chain ? 1 : 0); ++i)
      all.push_back(Whole(CheapestUs(Operation::kBcast, bytes, spans[i].ranks, spans[i].link)));
    if (chain) {
      const LinkModel& link = spans.back().link;
      const double hop_us = Move(link, 1, static_cast<double>(bytes)) + Turns(link, 1);
      all.push_back({(spans.back().ranks - 1) * hop_us, hop_us});
    }
    return all;
  };
  const Cut tree = CutFor(call.bytes, [&](std::int64_t bytes) { return stages(bytes, false); });
  const Cut chain = CutFor(call.bytes, [&](std::int64_t bytes) { return stages(bytes, true); });
  return chain.cost_us < tree.cost_us ? Way{chain, true} : Way{tree, false};
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  return WayFor(call, shape).cut.cost_us;
}

void AppendChain(const Stage& stage, const Slice& data, Schedule* schedule) {
  const Rank position = PositionOf(stage.own, stage.leader, stage.size());
  const auto rank_at = [&](Rank at) {
    const Rank index = RankAt(at, stage.leader, stage.size());
    return stage.members[static_cast<std::size_t>(index)].rank;
  };
  if (position > 0) schedule->Receive(rank_at(position - 1), data);
  schedule->EndRound();
  if (position + 1 < stage.size()) schedule->Send(rank_at(position + 1), data);
  schedule->EndRound();
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Topology& topology = *shape.topology;
  const std::vector<Stage> stages = Climb(shape, call.root);
  const Way way = WayFor(call, shape);
  const auto plan = [&](std::int64_t first, std::int64_t count, int) {
    const Slice data = Output(first, count);
    for (std::size_t i = stages.size(); i > 0; --i)
      if (way.chain && i > topology.levels.size())
        AppendChain(stages[i - 1], data, schedule);
      else
        AppendBcast(stages[i - 1], topology.Link(i - 1), data,
                    call.bytes / call.output_count * count, schedule);
  };
  EachSegment(call.output_count, way.cut.segments, schedule, plan);
}

}  // namespace

constinit const Algorithm kBcast{"hierarchical", Operation::kBcast, Fits, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
