// SPDX-License-Identifier: BSD-3-Clause
// Bcast, scatter then allgather: the root's buffer is cut into P blocks, a binomial tree scatters
// them, and a ring brings every block to every rank.
//
// Each byte leaves the root at most twice, where the binomial tree sends the whole buffer log2 P
// times, so this is for long buffers.
//
// Shape:  output n bytes on every rank; block i belongs to position i from the root.
// Cost:   (ceil(log2 P) + P - 1) * alpha + 2 * (P - 1) / P * n * beta.
// Source: Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, SHPCC 1994, 357-364.
#include "collectives/algorithms.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape& shape) {
  return shape.ranks > 2 && call.bytes >= shape.ranks && !call.uncut;
}

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double ranks = shape.ranks;
  return Move(link, CeilLog2(shape.ranks) + ranks - 1,
              2 * (ranks - 1) / ranks * static_cast<double>(call.bytes)) +
         Turns(link, CeilLog2(shape.ranks) + ranks - 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank position = PositionOf(shape.rank, call.root, ranks);
  const Blocks blocks(call.output_count, ranks);
  const auto range = [&](Rank first, Rank last) {
    return Output(blocks.Begin(first), blocks.Count(first, last));
  };

  if (position != 0) {
    schedule->Receive(RankAt(Parent(position), call.root, ranks),
                      range(position, SubtreeEnd(position, ranks)));
    schedule->EndRound();
  }
  for (Rank bit = ChildBits(position, ranks) / 2; bit > 0; bit /= 2) {
    const Rank child = position + bit;
    if (child < ranks)
      schedule->Send(RankAt(child, call.root, ranks), range(child, SubtreeEnd(child, ranks)));
  }
  schedule->EndRound();

  const Rank next = RankAt(position + 1, call.root, ranks);
  const Rank previous = RankAt(position + ranks - 1, call.root, ranks);
  for (Rank step = 0; step + 1 < ranks; ++step) {
    const Rank sent = (position - step + ranks) % ranks;
    const Rank received = (sent - 1 + ranks) % ranks;
    // Position 0 has everything from the start, and an inner one has the blocks of its subtree.
    // They are sent these blocks again all the same, so that the ring needs no exceptions.
    schedule->Receive(previous, range(received, received + 1));
    schedule->Send(next, range(sent, sent + 1));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kBcastScatterAllgather{"scatter_allgather", Operation::kBcast, Fits,
                                                 CostUs, Plan};

}  // namespace lamina::collective
