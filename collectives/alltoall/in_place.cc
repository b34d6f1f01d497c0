// SPDX-License-Identifier: BSD-3-Clause
// Alltoall in place: every pair of ranks swaps its blocks through a spare one.
//
// In round k rank r meets k - r (pieces/rank_group.h), so every pair meets once and both are there
// in the same round.
//
// Shape:  output P blocks of n elements on every rank. Scratch one block.
// Cost:   (P - 1) * (alpha + n * beta).
// Source: MPI-5.0, section 6.8 (in place).
#include "collectives/alltoall/alltoall.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Move(link, others, others * static_cast<double>(call.bytes)) + Turns(link, others);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanInPlace(UniformBlocks(call), shape, call.output_count, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallInPlace{"in_place", Operation::kAlltoall, Fits, CostUs, Plan};

}  // namespace lamina::collective
