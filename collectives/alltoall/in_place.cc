// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w) in place: every pair of ranks swaps its blocks through a spare one.
//
// In round k rank r meets k - r (pieces/rank_group.h), so every pair meets once and both are there
// in the same round.
//
// Shape:  output P blocks on every rank: n elements each, or by counts and displacements, or with
//         datatypes too. Scratch one block.
// Cost:   (P - 1) * (alpha + n * beta).
// Source: MPI-5.0, section 6.8 (in place).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Move(link, others, others * static_cast<double>(call.bytes)) + Turns(link, others);
}

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanInPlace(BlocksOf(call), shape, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallInPlace{"in_place", Operation::kAlltoall, Fits, CostUs,
                                           Plan<UniformBlocks>};
constinit const Algorithm kAlltoallvInPlace{"in_place", Operation::kAlltoallv, Fits, CostUs,
                                            Plan<GivenBlocks>};
constinit const Algorithm kAlltoallwInPlace{"in_place", Operation::kAlltoallw, Fits, CostUs,
                                            Plan<GivenBlocks>};

}  // namespace lamina::collective
