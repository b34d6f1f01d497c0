// SPDX-License-Identifier: BSD-3-Clause
// Reduce, linear: every rank sends its vector to the root, which folds them from the last rank to
// the first.
//
// Keeps rank order for any root, and nobody but the root computes. Only the root waits, so this is
// the cheapest way for few ranks that share CPUs.
//
// Shape:  input n elements on every rank, output n at the root; scratch 2 n at the root.
// Cost:   (P - 1) * (alpha + n * beta + n * gamma).
// Source: MPI-5.0, section 6.9.1 (the definition of MPI_REDUCE).
#include "collectives/plan/accumulator.h"
#include "collectives/plan/cost.h"
#include "collectives/reduce/reduce.h"

namespace lamina::collective {
namespace {

bool Fits(const Call&, const Shape&) { return true; }

double CostUs(const Call& call, const Shape& shape, const LinkModel& link) {
  const double others = shape.ranks - 1;
  const double bytes = others * static_cast<double>(call.bytes);
  return Move(link, others, bytes) + Combine(link, bytes) + Turns(link, 1);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::int64_t count = call.input_count;
  if (shape.rank != call.root) {
    schedule->Send(call.root, Input(0, count));
    return schedule->EndRound();
  }
  // The value of the ranks above goes from right to left; one's own vector is an operand from the
  // left like the others', so it must not be overwritten before its turn.
  const Slice own = Input(0, count);
  const Slice value = call.in_place ? Scratch(count, count) : Output(0, count);
  schedule->scratch_elements = call.in_place ? 2 * count : count;
  for (Rank rank = shape.ranks - 1; rank >= 0; --rank) {
    const bool first = rank == shape.ranks - 1;
    const Slice operand = first ? value : Scratch(0, count);
    if (rank == shape.rank) {
      if (first)
        schedule->Copy(own, value);
      else
        schedule->Reduce(own, value);
    } else {
      schedule->Receive(rank, operand);
      if (!first) schedule->Reduce(operand, value);
    }
    schedule->EndRound();
  }
  if (call.in_place) schedule->Copy(value, Output(0, count));
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kReduceLinear{"linear", Operation::kReduce, Fits, CostUs, Plan};

}  // namespace lamina::collective
