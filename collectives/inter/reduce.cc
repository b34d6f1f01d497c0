// SPDX-License-Identifier: BSD-3-Clause
// Reduce from one group to a root in another: the group folds its vectors to its leader, which
// sends the result to the root.
//
// A binomial tree at rank 0 keeps rank order, so any operation will do.
//
// Shape:  input n elements on every rank of one group, output n at the root. Scratch 2 n.
// Cost:   (1 + ceil(log2 Q)) * (alpha + n * beta) + ceil(log2 Q) * n * gamma; Q messages.
// Source: MPI-5.0, section 6.9.1 (the definition of MPI_REDUCE).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  if (call.root == kNobody) return;
  if (call.root == shape.rank) {
    schedule->Receive(RemoteLeader(shape), Output(0, call.output_count));
    return schedule->EndRound();
  }
  const Slice sum = FoldToLeader(call.input_count, shape, schedule);
  if (shape.rank == 0) schedule->Send(call.root, sum);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kInterReduceLeaders{
    "leaders", Operation::kReduce, AlwaysFits, NoCostUs, Plan, true};

}  // namespace lamina::collective
