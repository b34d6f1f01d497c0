// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/alone.h"

namespace lamina::collective {
namespace {

using Counts = std::span<const std::int64_t>;

bool Fits(const Call&, const Shape& shape) { return shape.ranks == 1 && !shape.inter(); }
double CostUs(const Call&, const Shape&, const LinkModel&) { return 0; }

// Block 0 of the input or output. In the v-forms it is at its displacement, elsewhere at the
// beginning.
Slice Only(Where where, std::int64_t count, Counts counts, Counts displacements, Rank type_of) {
  return {where, displacements.empty() ? 0 : displacements[0], counts.empty() ? count : counts[0],
          type_of};
}

void Plan(const Call& call, const Shape&, Schedule* schedule) {
  if (call.operation == Operation::kBarrier || call.operation == Operation::kBcast ||
      call.operation == Operation::kExscan || call.in_place)
    return;
  const Rank type_of = Typed(call.operation) ? 0 : -1;
  Slice from =
      Only(Where::kInput, call.input_count, call.input_counts, call.input_displacements, type_of);
  const Slice to = Only(Where::kOutput, call.output_count, call.output_counts,
                        call.output_displacements, type_of);
  if (Reduces(call.operation)) from.count = to.count;
  if (from.count > 0 && to.count > 0) schedule->Copy(from, to);
  schedule->EndRound();
}

}  // namespace

constinit const Algorithm kAlone{"alone", Operation::kBarrier, Fits, CostUs, Plan};

}  // namespace lamina::collective
