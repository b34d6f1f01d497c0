// SPDX-License-Identifier: BSD-3-Clause
// Allreduce, linear: every rank sends its vector to rank 0, which folds them in rank order and
// sends the result to every rank.
//
// It is two messages deep whatever P is, so if ranks share CPUs each waits for its turn only twice;
// but rank 0 does all the work.
//
// Shape:  input and output n elements on every rank; scratch 2 n at rank 0.
// Cost:   2 * (alpha + (P - 2) * overhead + (P - 1) * n * beta) + (P - 1) * n * gamma.
// Source: MPI-5.0, section 6.9.6 (MPI_ALLREDUCE as MPI_REDUCE followed by MPI_BCAST).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"
#include "collectives/reduce/linear_fold.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return 2 * Burst(link, others, bytes) + Combine(link, bytes) + Turns(link, 2);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  if (shape.rank == 0) {
    FoldLinear(call, shape, schedule);
    for (Rank rank = 1; rank < shape.ranks; ++rank) schedule->Send(rank, Output(0, count));
    return schedule->EndRound();
  }
  schedule->Send(0, Input(0, count));
  schedule->EndRound();
  schedule->Receive(0, Output(0, count));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAllreduceLinear{"linear", Operation::kAllreduce, AlwaysFits, CostUs,
                                           Plan};

}  // namespace lamina::collective
