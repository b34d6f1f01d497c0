// SPDX-License-Identifier: BSD-3-Clause
// Alltoallv, pairwise: in round k rank r sends to r + k and receives from r - k.
//
// One message each way at a time, so long blocks do not get in each other's way; where P is a power
// of two, to and from the same rank (pieces/rank_group.h). Ranks know only their own counts, so it
// is not chosen by size: see windowed.cc.
//
// Shape:  input and output P blocks on every rank, by counts and displacements.
// Cost:   (P - 1) * alpha + the bytes of the largest sender * beta.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/alltoallv/alltoallv.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Move(link, others, others * static_cast<double>(call.bytes)) + Turns(link, others);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanWindowed(GivenBlocks(call), shape, 1, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallvPairwise{"pairwise", Operation::kAlltoallv, Fits, CostUs, Plan};

}  // namespace lamina::collective
