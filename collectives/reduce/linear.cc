// SPDX-License-Identifier: BSD-3-Clause
// Reduce, linear: every rank sends its vector to the root, which folds them from the last rank to
// the first.
//
// It keeps rank order for any root, and nobody waits for a rank that has to wait itself. This is
// for few ranks, and for ranks that share CPUs.
//
// Shape:  input n elements on every rank, output n at the root; scratch 2 n at the root.
// Cost:   alpha + (P - 2) / 2 * overhead + (P - 1) * (n * beta + n * gamma).
// Source: MPI-5.0, section 6.9.1 (the definition of MPI_REDUCE).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce/linear_fold.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return Intake(link, others, bytes) + Combine(link, bytes) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  if (shape.rank != call.root) {
    schedule->Send(call.root, Input(0, count));
    return schedule->EndRound();
  }
  FoldLinear(call, shape, schedule);
}

}  // namespace

constinit const Algorithm kReduceLinear{"linear", Operation::kReduce, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
