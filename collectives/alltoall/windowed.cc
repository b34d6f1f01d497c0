// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v, w), windowed: every rank starts its messages to and from up to 32 others at once,
// beginning with its neighbours.
//
// Nobody waits for a particular partner, so this is for blocks too short to be limited by the link.
//
// Shape:  input and output P blocks on every rank: n elements each, or by counts and displacements,
//         or with datatypes too.
// Cost:   alpha + (2 P - 3) * overhead + 1.2 (P - 1) * n * beta; ceil((P - 1) / 32) rounds.
// Source: MPI-5.0, section 6.8 (the definitions of MPI_ALLTOALL and its kin).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

// The window keeps the links busy and bounds what is posted at once.
constexpr Rank kWindow = 32;

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Burst(link, 2 * others, 1.2 * others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanWindowed(BlocksOf(call), shape, kWindow, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallWindowed{"windowed", Operation::kAlltoall, Fits, CostUs,
                                            Plan<UniformBlocks>};
constinit const Algorithm kAlltoallvWindowed{"windowed", Operation::kAlltoallv, Fits, CostUs,
                                             Plan<GivenBlocks>};
constinit const Algorithm kAlltoallwWindowed{"windowed", Operation::kAlltoallw, Fits, CostUs,
                                             Plan<GivenBlocks>};

}  // namespace lamina::collective
