// SPDX-License-Identifier: BSD-3-Clause
// Gather, linear: every rank sends its block to the root.
//
// No byte moves twice, so this is for long blocks; the root handles P - 1 messages.
//
// Shape:  input n elements on every rank, output P blocks at the root.
// Cost:   alpha + (P - 2) / 2 * overhead + (P - 1) * n * beta.
// Source: MPI-5.0, section 6.5 (the definition of MPI_GATHER).
#include "collectives/gather/gather.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  return Intake(link, others, others * static_cast<double>(call.bytes)) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Slice own = Input(0, call.input_count);
  if (shape.rank != call.root) {
    schedule->Send(call.root, own);
    return schedule->EndRound();
  }
  const std::int64_t block = call.output_count;
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    if (rank != shape.rank) schedule->Receive(rank, Output(rank * block, block));
  if (!call.in_place) schedule->Copy(own, Output(shape.rank * block, block));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kGatherLinear{"linear", Operation::kGather, Fits, CostUs, Plan};

}  // namespace lamina::collective
