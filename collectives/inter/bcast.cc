// SPDX-License-Identifier: BSD-3-Clause
// Bcast from one group to another: the root tells the leader of the other group, and a binomial
// tree spreads it there.
//
// Shape:  output n bytes at the root and on every rank of the other group.
// Cost:   (1 + ceil(log2 Q)) * (alpha + n * beta); Q messages, Q ranks in the other group.
// Source: MPI-5.0, section 6.4 (the definition of MPI_BCAST).
#include "collectives/algorithms.h"
#include "collectives/inter/group.h"

namespace lamina::collective {
namespace {

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  if (call.root == kNobody) return;
  const Slice data = Output(0, call.output_count);
  if (call.root == shape.rank) {
    schedule->Send(RemoteLeader(shape), data);
    return schedule->EndRound();
  }
  if (shape.rank == 0) schedule->Receive(call.root, data);
  schedule->EndRound();
  SpreadFromLeader(data, shape, schedule);
}

}  // namespace

constinit const Algorithm kInterBcastTree{"tree", Operation::kBcast, AlwaysFits, NoCostUs, Plan,
                                          true};

}  // namespace lamina::collective
