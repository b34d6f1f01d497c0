// SPDX-License-Identifier: BSD-3-Clause
// Exscan, linear: rank r is given the fold of all ranks below it by rank r - 1, and passes on the
// same with its own vector folded in.
//
// There are P - 1 messages in all, one after the other, so this is for few ranks. The output of
// rank 0 is left alone.
//
// Shape:  input and output n elements on every rank; scratch n.
// Cost:   (P - 1) * (alpha + n * beta + n * gamma).
// Source: MPI-5.0, section 6.11.2 (the definition of MPI_EXSCAN).
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
  const Slice own = Input(0, count);
  const Slice sum = Scratch(0, count);
  const bool last = shape.rank + 1 == shape.ranks;
  if (shape.rank == 0) {
    schedule->Send(1, own);
    return schedule->EndRound();
  }
  if (last) {
    schedule->Receive(shape.rank - 1, Output(0, count));
    return schedule->EndRound();
  }
  // In place the input is the output, so it is set aside before the result may arrive there.
  schedule->scratch_elements = count;
  schedule->Copy(own, sum);
  schedule->EndRound();
  schedule->Receive(shape.rank - 1, Output(0, count));
  schedule->Reduce(Output(0, count), sum);
  schedule->EndRound();
  schedule->Send(shape.rank + 1, sum);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kExscanLinear{"linear", Operation::kExscan, AlwaysFits, CostUs, Plan};

}  // namespace lamina::collective
