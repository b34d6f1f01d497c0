// SPDX-License-Identifier: BSD-3-Clause
// Alltoall, windowed: every rank starts its messages to and from up to 32 others at once, beginning
// with its neighbours.
//
// Nobody waits for a particular partner, so this is for blocks too short to be limited by the link.
//
// Shape:  input and output P blocks of n elements on every rank.
// Cost:   alpha + (2 P - 3) * overhead + 1.2 (P - 1) * n * beta; ceil((P - 1) / 32) rounds.
// Source: MPI-5.0, section 6.8 (the definition of MPI_ALLTOALL).
#include "collectives/alltoall/alltoall.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

// Enough to keep links busy, few enough to bound what is posted at once.
constexpr Rank kWindow = 32;

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Burst(link, 2 * others, 1.2 * others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanWindowed(UniformBlocks(call), shape, kWindow, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallWindowed{"windowed", Operation::kAlltoall, Fits, CostUs, Plan};

}  // namespace lamina::collective
