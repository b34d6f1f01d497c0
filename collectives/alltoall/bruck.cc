// SPDX-License-Identifier: BSD-3-Clause
// Alltoall, Bruck: a block that must go d ranks ahead travels the binary digits of d: in round k
// all blocks whose distance has bit k go 2^k ranks ahead, in one message.
//
// ceil(log2 P) messages per rank instead of P - 1, but each byte moves up to log2 P times and is
// copied in and out of the messages: for short blocks.
//
// Shape:  input and output P blocks of n elements on every rank; scratch 2 P blocks.
// Cost:   ceil(log2 P) * (alpha + P/2 * n * (beta + 2 copies)) + 2 P copies of a block.
// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE Trans. Parallel Distrib. Syst. 8 (1997)
// 1143-1156.
#include "collectives/alltoall/alltoall.h"
#include "collectives/plan/cost.h"
#include "collectives/plan/tree.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks);
  const double moved = rounds * shape.ranks / 2 * static_cast<double>(call.bytes);
  // A step that copies a short block takes about a sixth of what a message does.
  const double copies = (rounds + 2) * shape.ranks * link.overhead_us / 6;
  return Move(link, rounds, moved) + Combine(link, 2 * moved) + copies + Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank ranks = shape.ranks;
  const std::int64_t block = call.output_count;
  // Slot d of the first half of scratch: the block that still has to be, or has been, moved by d.
  const auto slot = [&](Rank distance) { return Scratch(distance * block, block); };
  const auto packed = [&](Rank index, Rank count) {
    return Scratch((ranks + index) * block, count * block);
  };
  schedule->scratch_elements = 2 * ranks * block;
  for (Rank distance = 0; distance < ranks; ++distance) {
    const Rank to = (shape.rank + distance) % ranks;
    schedule->Copy(Input(to * call.input_count, call.input_count), slot(distance));
  }
  schedule->EndRound();

  for (Rank bit = 1; bit < ranks; bit *= 2) {
    Rank moved = 0;
    for (Rank distance = bit; distance < ranks; ++distance)
      if ((distance & bit) != 0) schedule->Copy(slot(distance), packed(moved++, 1));
    schedule->EndRound();
    // Half of the distances at most, so what arrives has room behind what leaves.
    schedule->Receive((shape.rank + ranks - bit) % ranks, packed(moved, moved));
    schedule->Send((shape.rank + bit) % ranks, packed(0, moved));
    Rank arrived = moved;
    for (Rank distance = bit; distance < ranks; ++distance)
      if ((distance & bit) != 0) schedule->Copy(packed(arrived++, 1), slot(distance));
    schedule->EndRound();
  }
  for (Rank distance = 0; distance < ranks; ++distance) {
    const Rank from = (shape.rank + ranks - distance) % ranks;
    schedule->Copy(slot(distance), Output(from * block, block));
  }
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAlltoallBruck{"bruck", Operation::kAlltoall, Fits, CostUs, Plan};

}  // namespace lamina::collective
