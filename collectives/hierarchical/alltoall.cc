// SPDX-License-Identifier: BSD-3-Clause
// Alltoall in two exchanges: each rank first exchanges with the ranks that have its place in the
// other groups, and then within its group.
//
// What a rank has for a group goes there in one message, to the rank in its own place, which deals
// it out. So only a k-th of the messages leave a group of k ranks, and no byte leaves that need
// not. The outermost groups must have the same size; their ranks may lie in any order.
//
// Shape:  input and output P blocks of n bytes; scratch twice that, and for the inner algorithms.
// Cost:   with G groups of k ranks, alltoall of k n among G across, of G n among k within, and 2 P
//         copies of a block.
// Source: Kumar, Sabharwal, Garg, Heidelberger, ICPP 2008, 320-329 (all-to-all in phases along the
//         dimensions of a machine).
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/inner.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective::hierarchical {
namespace {

const Partition& GroupsOf(const Shape& shape) { return shape.hierarchy->levels.back().groups; }

bool Fits(const Call&, const Shape& shape) {
  if (shape.hierarchy == nullptr) return false;
  const Partition& groups = GroupsOf(shape);
  return std::int64_t{groups.groups()} * groups.largest() == shape.ranks;
}

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const Partition& groups = GroupsOf(shape);
  const Rank side_by_side = groups.groups(), within = groups.largest();
  const LinkModel& inner = shape.hierarchy->levels.back().link;
  const double copies = 2 * shape.ranks * kCopyUs;
  return CheapestUs(Operation::kAlltoall, within * call.bytes, side_by_side, link) +
         CheapestUs(Operation::kAlltoall, side_by_side * call.bytes, within, inner) + copies +
         Combine(link, 2.0 * shape.ranks * static_cast<double>(call.bytes));
}

Call Exchange(const Call& call, Rank blocks) {
  Call inner = Inner(call, Operation::kAlltoall, blocks * call.bytes);
  inner.input_count = inner.output_count = blocks * call.output_count;
  return inner;
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Partition& groups = GroupsOf(shape);
  const Rank ranks = shape.ranks, side_by_side = groups.groups(), within = groups.largest();
  const Rank place = groups.IndexOf(shape.rank), group = groups.GroupOf(shape.rank);
  const std::int64_t block = call.output_count;
  const std::int64_t sent = call.in_place ? block : call.input_count;
  Stage across, inside;
  across.link = shape.hierarchy->outermost;
  across.own = group;
  for (Rank other = 0; other < side_by_side; ++other) {
    const Rank rank = groups.Member(other, place);
    across.members.push_back({rank, rank, 1});
  }
  inside.link = shape.hierarchy->levels.back().link;
  inside.own = place;
  for (Rank member = 0; member < within; ++member) {
    const Rank rank = groups.Member(group, member);
    inside.members.push_back({rank, rank, 1});
  }

  // The first half of scratch holds what an exchange sends, unless it can send the user's data as
  // they lie; the second half holds what it receives.
  const std::int64_t half = ranks * block;
  const auto blocks = [&](std::int64_t begin, std::int64_t first, std::int64_t count) {
    return Scratch(begin + first * block, count * block);
  };
  const auto input = [&](Rank first, Rank count) {
    return call.in_place ? Output(first * sent, count * sent) : Input(first * sent, count * sent);
  };
  schedule->scratch_elements = 2 * half;
  Call inner = Exchange(call, within);
  if (groups.in_order()) {
    inner.input_count = within * sent;
    Append(inner, across, {input(0, ranks), blocks(half, 0, ranks), 2 * half}, schedule);
  } else {
    for (Rank other = 0; other < side_by_side; ++other)
      for (Rank member = 0; member < within; ++member)
        schedule->Copy(input(groups.Member(other, member), 1),
                       blocks(0, other * within + member, 1));
    schedule->EndRound();
    Append(inner, across, {blocks(0, 0, ranks), blocks(half, 0, ranks), 2 * half}, schedule);
  }
  for (Rank member = 0; member < within; ++member)
    for (Rank other = 0; other < side_by_side; ++other)
      schedule->Copy(blocks(half, other * within + member, 1),
                     blocks(0, member * side_by_side + other, 1));
  schedule->EndRound();
  Append(Exchange(call, side_by_side), inside,
         {blocks(0, 0, ranks), blocks(half, 0, ranks), 2 * half}, schedule);
  for (Rank member = 0; member < within; ++member)
    for (Rank other = 0; other < side_by_side; ++other)
      schedule->Copy(blocks(half, member * side_by_side + other, 1),
                     Output(groups.Member(other, member) * block, block));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAlltoall{"hierarchical", Operation::kAlltoall, Fits, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
