// SPDX-License-Identifier: BSD-3-Clause
// Scan, linear: rank r waits for the result of rank r - 1, folds its own vector in and passes it
// on.
//
// There are P - 1 messages in all, one after the other, so this is for few ranks.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   (P - 1) * (alpha + n * beta + n * gamma).
// Source: MPI-5.0, section 6.11.1 (the definition of MPI_SCAN).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return Move(link, others, bytes) + Combine(link, bytes) + Turns(link, others);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Slice result = Output(0, count);
  if (!call.in_place) schedule->Copy(Input(0, count), result);
  schedule->EndRound();
  if (shape.rank > 0) {
    schedule->scratch_elements = count;
    schedule->Receive(shape.rank - 1, Scratch(0, count));
    schedule->Reduce(Scratch(0, count), result);
    schedule->EndRound();
  }
  if (shape.rank + 1 < shape.ranks) schedule->Send(shape.rank + 1, result);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScanLinear{"linear", Operation::kScan, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
