// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchical/side_by_side.h"

#include <algorithm>

namespace lamina::collective::hierarchical {
namespace {

// The counts and displacements of a stage's blocks, relative to the first of them.
struct Arrays {
  explicit Arrays(const Transfer& transfer) {
    for (const Member& member : transfer.stage.members) {
      counts.push_back(transfer.offsets.Of(member));
      displacements.push_back(transfer.offsets.Begin(member.first) -
                              transfer.offsets.Begin(transfer.stage.first()));
    }
  }
  std::vector<std::int64_t> counts, displacements;
};

Call CallOf(const Transfer& transfer, Operation even, Operation uneven) {
  const Member& own = transfer.stage.members[static_cast<std::size_t>(transfer.stage.own)];
  Call call;
  call.operation = transfer.offsets.Even(transfer.stage) ? even : uneven;
  call.root = transfer.stage.leader;
  if (call.operation == even) call.bytes = own.size * transfer.bytes;
  call.in_place = transfer.own_in_whole && transfer.stage.leads();
  call.input_count = call.output_count = transfer.offsets.Of(own);
  return call;
}

}  // namespace

Offsets::Offsets(std::span<const std::int64_t> counts) : begins_{0} {
  for (const std::int64_t count : counts) begins_.push_back(begins_.back() + count);
}

void Collect(const Transfer& transfer, Schedule* schedule) {
  Call call = CallOf(transfer, Operation::kGather, Operation::kGatherv);
  const Arrays arrays(transfer);
  call.input_count = transfer.own.count;
  if (call.operation == Operation::kGatherv && transfer.stage.leads()) {
    call.output_counts = arrays.counts;
    call.output_displacements = arrays.displacements;
  }
  Append(call, transfer.stage, {transfer.own, transfer.whole, transfer.scratch}, schedule);
}

void Spread(const Transfer& transfer, Schedule* schedule) {
  Call call = CallOf(transfer, Operation::kScatter, Operation::kScatterv);
  const Arrays arrays(transfer);
  call.output_count = transfer.own.count;
  if (call.operation == Operation::kScatterv && transfer.stage.leads()) {
    call.input_counts = arrays.counts;
    call.input_displacements = arrays.displacements;
  }
  Append(call, transfer.stage, {transfer.whole, transfer.own, transfer.scratch}, schedule);
}

void Exchange(const Transfer& transfer, Schedule* schedule) {
  Call call = CallOf(transfer, Operation::kAllgather, Operation::kAllgatherv);
  const Arrays arrays(transfer);
  call.root = 0;
  call.in_place = call.all_in_place = true;
  if (call.operation == Operation::kAllgatherv) {
    const Rank ranks = transfer.stage.members.back().first + transfer.stage.members.back().size;
    call.bytes = transfer.bytes * (ranks - transfer.stage.first());
    call.output_counts = arrays.counts;
    call.output_displacements = arrays.displacements;
  }
  Append(call, transfer.stage, {transfer.own, transfer.whole, transfer.scratch}, schedule);
}

void PlanInward(const std::vector<Stage>& stages, std::size_t end, const Offsets& offsets,
                std::int64_t bytes, const Slice& output, std::int64_t scratch, Schedule* schedule) {
  // This rank holds the blocks of the widest group it leads, on behalf of the others.
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < end; ++i)
    if (stages[i].leads() && !stages[i].alone()) kept = offsets.Of(stages[i]);
  schedule->scratch_elements = std::max(schedule->scratch_elements, scratch + kept);
  for (std::size_t i = end; i > 0; --i) {
    const Stage& stage = stages[i - 1];
    if (stage.alone()) continue;
    const Member& own = stage.members[static_cast<std::size_t>(stage.own)];
    const std::int64_t count = offsets.Of(own);
    const bool arrives = own.size == 1 && !stage.leads();  // this is the rank's own block alone
    const Slice into = arrives ? output : Scratch(scratch, count);
    Spread({stage, offsets, bytes, into, Scratch(scratch, 0), true, scratch + kept}, schedule);
  }
  if (kept > 0 && output.count > 0) schedule->Copy(Scratch(scratch, output.count), output);
  schedule->EndRound();
}

}  // namespace lamina::collective::hierarchical
