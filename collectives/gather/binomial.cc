// SPDX-License-Identifier: BSD-3-Clause
// Gather, binomial tree: every position collects the blocks of its subtree and passes them on in
// one message.
//
// Positions count from the root, so a subtree's blocks lie side by side in rank order, except that
// the interval which passes the last rank goes to the root in two messages.
//
// Shape:  input n elements on every rank, output P blocks at the root; at an inner position,
//         scratch for the blocks of its subtree.
// Cost:   ceil(log2 P) * alpha + (P - 1) * n * beta + (ceil(log2 P) - 1) copies of a block.
// Source: Chan, Heimlich, Purkayastha, van de Geijn, Concurr. Comput. 19 (2007) 1749-1783.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double bytes = static_cast<double>(call.bytes);
  const double depth = CeilLog2(shape.ranks);
  return Move(link, depth, (shape.ranks - 1) * bytes) + Combine(link, (depth - 1) * bytes) +
         Turns(link, depth);
}

void PlanRoot(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t block = call.output_count;
  const auto receive = [&](Rank peer, Rank first, Rank last) {
    if (first < last) schedule->Receive(peer, Output(first * block, (last - first) * block));
  };
  for (Rank child = 1; child < shape.ranks; child *= 2) {
    const Rank first = child + call.root;  // may be P or more: it counts on past the last rank
    const Rank last = SubtreeEnd(child, shape.ranks) + call.root;
    const Rank peer = first % shape.ranks;
    receive(peer, first, std::min(last, shape.ranks));
    receive(peer, std::max(first, shape.ranks) - shape.ranks, last - shape.ranks);
  }
  if (!call.in_place) schedule->Copy(Input(0, call.input_count), Output(shape.rank * block, block));
  schedule->EndRound();
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank position = PositionOf(shape.rank, call.root, shape.ranks);
  if (position == 0) return PlanRoot(call, shape, schedule);

  const std::int64_t block = call.input_count;
  const Rank end = SubtreeEnd(position, shape.ranks);
  const Rank parent = RankAt(Parent(position), call.root, shape.ranks);
  if (end - position == 1) {
    schedule->Send(parent, Input(0, block));
    return schedule->EndRound();
  }
  schedule->scratch_elements = (end - position) * block;
  for (Rank bit = 1; position + bit < end; bit *= 2) {
    const Rank child = position + bit;
    schedule->Receive(RankAt(child, call.root, shape.ranks),
                      Scratch(bit * block, (SubtreeEnd(child, shape.ranks) - child) * block));
  }
  schedule->Copy(Input(0, block), Scratch(0, block));
  schedule->EndRound();

  // A message to the root is cut where the root's output ends.
  const Rank cut = Parent(position) == 0 ? shape.ranks - call.root : end;
  const auto send = [&](Rank first, Rank last) {
    if (first < last)
      schedule->Send(parent, Scratch((first - position) * block, (last - first) * block));
  };
  send(position, std::min(end, cut));
  send(std::max(position, cut), end);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kGatherBinomial{"binomial", Operation::kGather, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
