// SPDX-License-Identifier: BSD-3-Clause
// Allgather, recursive doubling: in round k, ranks that differ in bit k swap all blocks they have.
//
// Blocks land where they belong, so nothing is copied; but the number of ranks must be a power of
// two.
//
// Shape:  input n elements on every rank, output P blocks on every rank.
// Cost:   log2 P * alpha + (P - 1) * n * beta.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape& shape) { return PowerFloor(shape.ranks) == shape.ranks; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double rounds = CeilLog2(shape.ranks);
  return MoveAtOnce(link, rounds, (shape.ranks - 1) * static_cast<double>(call.bytes)) +
         Turns(link, rounds);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t block = call.output_count;
  const auto blocks = [&](Rank first, Rank count) { return Output(first * block, count * block); };
  const Slice own = call.in_place ? blocks(shape.rank, 1) : Input(0, call.input_count);
  for (Rank width = 1; width < shape.ranks; width *= 2) {
    const Rank mine = shape.rank & -width;  // the first of the blocks held
    const Rank peer = shape.rank ^ width;
    schedule->Receive(peer, blocks(mine ^ width, width));
    schedule->Send(peer, width == 1 ? own : blocks(mine, width));
    if (width == 1 && !call.in_place) schedule->Copy(own, blocks(shape.rank, 1));
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kAllgatherRecursiveDoubling{"recursive_doubling", Operation::kAllgather,
                                                      Fits, CostUs, Plan};

}  // namespace lamina::collective
