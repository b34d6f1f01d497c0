// SPDX-License-Identifier: BSD-3-Clause
// Allreduce between two groups: each folds its vectors to its leader, the leaders swap results, and
// each group hears the other's from its leader.
//
// Shape:  input and output n elements on every rank of both groups. Scratch 2 n.
// Cost:   (1 + 2 * ceil(log2 P)) * (alpha + n * beta) + ceil(log2 P) * n * gamma, P ranks in the
//         larger group; 2 (P + Q - 1) messages.
// Source: MPI-5.0, section 6.9.6 (the definition of MPI_ALLREDUCE).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice sum = FoldToLeader(call.input_count, shape, schedule);
  const Slice theirs = Output(0, call.output_count);
  if (shape.rank == 0) {
    schedule->Receive(RemoteLeader(shape), theirs);
    schedule->Send(RemoteLeader(shape), sum);
  }
  schedule->EndRound();
  SpreadFromLeader(theirs, shape, schedule);
}

}  // namespace

constinit const Algorithm kInterAllreduceLeaders{
    "leaders", Operation::kAllreduce, AlwaysFits, NoCostUs, Plan, true};

}  // namespace lamina::collective
