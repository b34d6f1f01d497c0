// SPDX-License-Identifier: BSD-3-Clause
// Alltoall, Bruck: a block that must go d ranks ahead travels the binary digits of d: in round k
// all blocks whose distance has bit k go 2^k ranks ahead, in one message.
//
// A rank sends ceil(log2 P) messages instead of P - 1, but each byte moves up to log2 P times and
// is copied in and out of the messages, so this is for short blocks. Distances with bit k set lie
// side by side in runs of 2^k, so there are 3 P copies in all, however many rounds.
//
// Shape:  input and output P blocks of n elements on every rank; scratch 2 P blocks.
// Cost:   ceil(log2 P) * (alpha + P/2 * n * (beta + 2 copies)) + 3 P starts of a copy.
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE Trans. Parallel Distrib. Syst. 8 (1997)
//         1143-1156.
#include <algorithm>

#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks);
  const double moved = rounds * shape.ranks / 2 * static_cast<double>(call.bytes);
  const double copies = 3 * shape.ranks * kCopyUs;
  return Move(link, rounds, moved) + Combine(link, 2 * moved) + copies + Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const std::int64_t block = call.output_count;
  // Slot d of the first half of scratch holds the block that has to move d ranks ahead, and in the
  // end the block that has come from d ranks behind.
  const auto slots = [&](Rank first, Rank count) { return Scratch(first * block, count * block); };
  const auto packed = [&](Rank first, Rank count) { return slots(ranks + first, count); };
  schedule->scratch_elements = 2 * ranks * block;
  const auto own = [&](Rank first, Rank count) {
    return Input(first * call.input_count, count * call.input_count);
  };
  const Rank upper = ranks - shape.rank;  // destinations from this rank to the last
  schedule->Copy(own(shape.rank, upper), slots(0, upper));
  if (shape.rank > 0) schedule->Copy(own(0, shape.rank), slots(upper, shape.rank));
  schedule->EndRound();

  for (Rank bit = 1; bit < ranks; bit *= 2) {
    // Distances with this bit come in runs of `bit`.
    const auto each_run = [&](auto visit) {
      Rank before = 0;
      for (Rank first = bit; first < ranks; first += 2 * bit) {
        const Rank count = std::min(bit, ranks - first);
        visit(first, before, count);
        before += count;
      }
      return before;
    };
    const Rank moved = each_run([&](Rank first, Rank before, Rank count) {
      schedule->Copy(slots(first, count), packed(before, count));
    });
    schedule->EndRound();
    // At most half of the distances have this bit, so what arrives has room behind what leaves.
    schedule->Receive((shape.rank + ranks - bit) % ranks, packed(moved, moved));
    schedule->Send((shape.rank + bit) % ranks, packed(0, moved));
    each_run([&](Rank first, Rank before, Rank count) {
      schedule->Copy(packed(moved + before, count), slots(first, count));
    });
    schedule->EndRound();
  }
  for (Rank distance = 0; distance < ranks; ++distance) {
    const Rank from = (shape.rank + ranks - distance) % ranks;
    schedule->Copy(slots(distance, 1), Output(from * block, block));
  }
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAlltoallBruck{"bruck", Operation::kAlltoall, Fits, CostUs, Plan};

}  // namespace lamina::collective
