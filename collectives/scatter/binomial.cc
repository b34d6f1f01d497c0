// SPDX-License-Identifier: BSD-3-Clause
// Scatter, binomial tree: every position is given the blocks of its subtree in one message and
// passes the largest part on first.
//
// Positions count from the root, so a subtree's blocks lie side by side in rank order, except that
// the interval which passes the last rank comes from the root in two messages.
//
// Shape:  input P blocks of n elements at the root, output one block on every rank; scratch of an
//         inner position: the blocks of its subtree.
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
  const std::int64_t block = call.input_count;
  const auto send = [&](Rank peer, Rank first, Rank last) {
    if (first < last) schedule->Send(peer, Input(first * block, (last - first) * block));
  };
  for (Rank child = PowerCeil(shape.ranks) / 2; child > 0; child /= 2) {
    const Rank first = child + call.root;  // may be P or more: it counts on past the last rank
    const Rank last = SubtreeEnd(child, shape.ranks) + call.root;
    const Rank peer = first % shape.ranks;
    send(peer, first, std::min(last, shape.ranks));
    send(peer, std::max(first, shape.ranks) - shape.ranks, last - shape.ranks);
  }
  if (!call.in_place)
    schedule->Copy(Input(shape.rank * block, block), Output(0, call.output_count));
  schedule->EndRound();
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank position = PositionOf(shape.rank, call.root, shape.ranks);
  if (position == 0) return PlanRoot(call, shape, schedule);

  const std::int64_t block = call.output_count;
  const Rank end = SubtreeEnd(position, shape.ranks);
  const Rank parent = RankAt(Parent(position), call.root, shape.ranks);
  const bool leaf = end - position == 1;
  // A message from the root is cut where the root's input ends.
  const Rank cut = Parent(position) == 0 ? shape.ranks - call.root : end;
  const auto receive = [&](Rank first, Rank last) {
    if (first >= last) return;
    schedule->Receive(parent, leaf ? Output(0, block)
                                   : Scratch((first - position) * block, (last - first) * block));
  };
  receive(position, std::min(end, cut));
  receive(std::max(position, cut), end);
  schedule->EndRound();
  if (leaf) return;

  schedule->scratch_elements = (end - position) * block;
  for (Rank bit = ChildBits(position, shape.ranks) / 2; bit > 0; bit /= 2) {
    const Rank child = position + bit;
    if (child < shape.ranks)
      schedule->Send(RankAt(child, call.root, shape.ranks),
                     Scratch(bit * block, (SubtreeEnd(child, shape.ranks) - child) * block));
  }
  schedule->Copy(Scratch(0, block), Output(0, block));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScatterBinomial{"binomial", Operation::kScatter, AlwaysFits, CostUs,
                                           Plan};

}  // namespace lamina::collective
