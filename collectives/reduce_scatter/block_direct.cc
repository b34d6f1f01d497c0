// SPDX-License-Identifier: BSD-3-Clause
// Reduce_scatter_block, direct: every rank sends each other rank the part of its vector that
// belongs there and folds the P parts of its own block, in rank order.
//
// No byte moves more than once and rank order is kept, so any operation will do.
//
// Shape:  input P blocks of n elements, output one block on every rank; scratch P n.
// Cost:   alpha + (2 P - 3) * overhead + (1 - 1/P) * N * (beta + gamma) for equal blocks,
//         N elements in all.
// Source: MPI-5.0, section 6.10 (the definition of MPI_REDUCE_SCATTER).
#include "collectives/plan/cost.h"
#include "collectives/reduce_scatter/fold_column.h"
#include "collectives/reduce_scatter/reduce_scatter.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double moved = others / shape.ranks * shape.ranks * static_cast<double>(call.bytes);
  return Burst(link, 2 * others, moved) + Combine(link, moved) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.output_count;
  const auto block = [&](Rank rank) { return Input(rank * count, count); };
  PlanDirect(shape, block, schedule);
}

}  // namespace

constinit const Algorithm kReduceScatterBlockDirect{"direct", Operation::kReduceScatterBlock, Fits,
                                                    CostUs, Plan};

}  // namespace lamina::collective
