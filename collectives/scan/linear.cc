// SPDX-License-Identifier: BSD-3-Clause
// Scan and exscan, linear: rank r is given the fold of all ranks below it by rank r - 1, and passes
// on the same with its own vector folded in. In a scan that is also its result.
//
// There are P - 1 messages in all, one after the other, so this is for few ranks. An exscan leaves
// the output of rank 0 alone.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   (P - 1) * (alpha + n * beta + n * gamma).
// Source: MPI-5.0, section 6.11 (the definitions of MPI_SCAN and MPI_EXSCAN).
#include "collectives/algorithms.h"
#include "collectives/pieces/cost.h"

namespace lamina::collective {
namespace {

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return Move(link, others, bytes) + Combine(link, bytes) + Turns(link, others);
}

void PlanScan(const Call& call, const Shape& shape, Schedule* schedule) {
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

void PlanExscan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  const Slice own = Input(0, count), below = Output(0, count), sum = Scratch(0, count);
  const bool passes_on = shape.rank + 1 < shape.ranks;
  if (shape.rank == 0) {
    schedule->Send(1, own);
    return schedule->EndRound();
  }
  if (passes_on) {
    // In place the input is the output, so it is set aside before the result may arrive there.
    schedule->scratch_elements = count;
    schedule->Copy(own, sum);
    schedule->EndRound();
  }
  schedule->Receive(shape.rank - 1, below);
  if (passes_on) schedule->Reduce(below, sum);
  schedule->EndRound();
  if (passes_on) schedule->Send(shape.rank + 1, sum);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kScanLinear{"linear", Operation::kScan, AlwaysFits, CostUs, PlanScan};
constinit const Algorithm kExscanLinear{"linear", Operation::kExscan, AlwaysFits, CostUs,
                                        PlanExscan};

}  // namespace lamina::collective
