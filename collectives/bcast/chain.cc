// SPDX-License-Identifier: BSD-3-Clause
// Bcast, pipelined chain: the buffer travels from each position to the next in segments, so all
// ranks are busy with different segments at once.
//
// A rank receives each byte once and sends it at most once, whatever P is, so this is for buffers
// so long that filling the pipeline does not matter. The number of segments balances the length of
// the pipeline against the price of a message, for a link on which a message of 8 KiB takes twice
// as long as an empty one.
//
// Shape:  output n bytes on every rank, cut into S segments.
// Cost:   (P - 2 + S) * (alpha + n / S * beta), S = sqrt((P - 1) * n / 8192), 2 at least;
//         (P - 1) * S messages, (P - 1) * n bytes in all.
// Source: Watts, van de Geijn, Parallel Process. Lett. 5 (1995) 281-292.
#include "collectives/algorithms.h"
#include "collectives/bcast/segments.h"
#include "collectives/pieces/blocks.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape& shape) {
  return shape.ranks > 2 && call.bytes > 1 && !call.uncut;
}

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double bytes = static_cast<double>(call.bytes);
  const double segments = static_cast<double>(ChainSegments(call.bytes, shape.ranks));
  const double rounds = shape.ranks - 2 + segments;
  return Move(link, rounds, rounds * bytes / segments) + Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const Rank position = PositionOf(shape.rank, call.root, ranks);
  const std::int64_t segments = ChainSegments(call.bytes, ranks);
  const Blocks blocks(call.output_count, segments);
  const auto segment = [&](std::int64_t index) {
    return Output(blocks.Begin(index), blocks.Count(index, index + 1));
  };
  const Rank next = RankAt(position + 1, call.root, ranks);
  const Rank previous = RankAt(position + ranks - 1, call.root, ranks);
  for (std::int64_t round = 0; round <= segments; ++round) {
    if (position > 0 && round < segments) schedule->Receive(previous, segment(round));
    if (position + 1 < ranks && round > 0) schedule->Send(next, segment(round - 1));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kBcastChain{"chain", Operation::kBcast, Fits, CostUs, Plan};

}  // namespace lamina::collective
