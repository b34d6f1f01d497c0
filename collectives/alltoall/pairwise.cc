// SPDX-License-Identifier: BSD-3-Clause
// Alltoall(v), pairwise: in round k rank r sends to r + k and receives from r - k.
//
// A rank has one message each way at a time, so long blocks do not get in each other's way. Where P
// is a power of two, both go to and come from the same rank (pieces/rank_group.h). In the v-form
// ranks know only their own counts, so nothing can choose this algorithm by size there: it is taken
// where it is named.
//
// Shape:  input and output P blocks on every rank: n elements each, or by counts and displacements.
// Cost:   (P - 1) * (alpha + n * beta).
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66.
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/exchange.h"

namespace lamina::collective {
namespace {

bool Fits(const Call& call, const Shape&) { return !call.all_in_place; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Move(link, others, others * static_cast<double>(call.bytes)) + Turns(link, others);
}

template <class BlocksOf>
void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  PlanWindowed(BlocksOf(call), shape, 1, schedule);
}

}  // namespace

constinit const Algorithm kAlltoallPairwise{"pairwise", Operation::kAlltoall, Fits, CostUs,
                                            Plan<UniformBlocks>};
constinit const Algorithm kAlltoallvPairwise{"pairwise", Operation::kAlltoallv, Fits, CostUs,
                                             Plan<GivenBlocks>};

}  // namespace lamina::collective
