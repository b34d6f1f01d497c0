// SPDX-License-Identifier: BSD-3-Clause
// Allgather(v) in stages: every group gathers its blocks at its leader, the leaders of the
// outermost groups exchange theirs, and the whole is broadcast inward.
//
// Groups must be ranges of ranks, so that their blocks lie side by side. A block crosses between
// outermost groups as often as an allgather among their leaders moves it, instead of once for every
// rank.
//
// Shape:  input n elements, output P blocks on every rank; scratch for the inner algorithms, and in
//         the v-form for all blocks.
// Cost:   per stage, a gather(v) of what a group has and a bcast of all P * n; at the top, an
//         allgather(v).
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe).
#include <algorithm>

#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/side_by_side.h"

namespace lamina::collective::hierarchical {
namespace {

// Ranks may receive the same data as elements of different sizes, so no position inside it means
// the same to all of them, and the bcast must not cut it.
constexpr Call kOfBlocks{.uncut = true};

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  const std::vector<Span> spans = Spans(shape);
  double cost_us = CheapestUs(Operation::kAllgather, call.bytes * spans.back().below,
                              spans.back().ranks, spans.back().link);
  for (std::size_t i = 0; i + 1 < spans.size(); ++i)
    cost_us +=
        CheapestUs(Operation::kGather, call.bytes * spans[i].below, spans[i].ranks, spans[i].link) +
        CheapestUs(Inner(kOfBlocks, Operation::kBcast, call.bytes * shape.ranks), spans[i].ranks,
                   spans[i].link);
  return cost_us;
}

// Moves the blocks of all ranks outward, across and inward again. They lie side by side from `at`
// on, where this rank's own block is already. A block has `block_bytes` on average.
void PlanFrom(const Slice& at, const Offsets& offsets, std::int64_t block_bytes, const Shape& shape,
              std::int64_t scratch, Schedule* schedule) {
  const std::vector<Stage> stages = Climb(shape, kNobody);
  const std::size_t levels = shape.hierarchy->levels.size();
  const std::size_t inner_stages = std::min(stages.size(), levels);
  const auto part = [&](Rank first, std::int64_t count) {
    return Slice{at.where, at.first + offsets.Begin(first), count, -1};
  };
  const auto transfer = [&](std::size_t i) {
    const Stage& stage = stages[i];
    const Member& own = stage.members[static_cast<std::size_t>(stage.own)];
    return Transfer{
        stage, offsets, block_bytes, part(own.first, offsets.Of(own)), part(stage.first(), 0),
        true,  scratch};
  };
  for (std::size_t i = 0; i < inner_stages; ++i) Collect(transfer(i), schedule);
  if (stages.size() > levels) Exchange(transfer(levels), schedule);
  const std::int64_t all = offsets.Begin(shape.ranks);
  for (std::size_t i = inner_stages; all > 0 && i > 0; --i)
    AppendBcast(kOfBlocks, stages[i - 1], part(0, all), shape.ranks * block_bytes, schedule);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t block = call.output_count;
  if (!call.in_place) schedule->Copy(Input(0, call.input_count), Output(shape.rank * block, block));
  schedule->EndRound();
  PlanFrom(Output(0, 0), Offsets(block), call.bytes, shape, 0, schedule);
}

// The caller may have put the blocks of the output anywhere, so they travel packed.
void PlanVector(const Call& call, const Shape& shape, Schedule* schedule) {
  const Offsets offsets(call.output_counts);
  const std::int64_t all = offsets.Begin(shape.ranks);
  schedule->scratch_elements = all;
  const auto block = [&](Rank rank) {
    return Output(call.output_displacements[rank], call.output_counts[rank]);
  };
  const auto packed = [&](Rank rank) {
    return Scratch(offsets.Begin(rank), call.output_counts[rank]);
  };
  const Slice own = call.in_place ? block(shape.rank) : Input(0, call.input_count);
  if (block(shape.rank).count > 0) schedule->Copy(own, packed(shape.rank));
  schedule->EndRound();
  PlanFrom(Scratch(0, 0), offsets, call.bytes / shape.ranks, shape, all, schedule);
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (block(rank).count > 0 && !(call.in_place && rank == shape.rank))
      schedule->Copy(packed(rank), block(rank));
  schedule->EndRound();
}

double CostOfVectorUs(const Call& call, const Shape& shape, const LinkModel& link) {
  Call block = call;
  block.bytes = call.bytes / shape.ranks;
  return CostUs(block, shape, link);
}

}  // namespace

constinit const Algorithm kAllgather{"hierarchical", Operation::kAllgather, FitsRanges, CostUs,
                                     Plan};

constinit const Algorithm kAllgatherv{"hierarchical", Operation::kAllgatherv, FitsRanges,
                                      CostOfVectorUs, PlanVector};

}  // namespace lamina::collective::hierarchical
