// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/perform.h"

#include <algorithm>

namespace lamina::collective::board {
namespace {

Blocks InputOf(const Invocation& it) {
  return {{const_cast<void*>(it.input), it.input_count, it.input_type}};
}

// True if the blocks of an allgatherv lie one after the other, as those of an allgather do.
bool LiesAsAllgather(const Invocation& it) {
  for (std::size_t i = 0; i < it.output_counts.size(); ++i)
    if (it.output_displacements[i] != static_cast<std::int64_t>(i) * it.output_counts[i])
      return false;
  return true;
}

Blocks OutputOf(const Invocation& it) {
  if (it.operation != Operation::kAllgatherv) return {{it.output, it.output_count, it.output_type}};
  Blocks blocks{{it.output, it.output_counts[0], it.output_type}};
  if (!LiesAsAllgather(it)) blocks.places = it.output_displacements;
  return blocks;
}

// The block that this member contributes.
Buffer OwnBlockOf(const Participant& self, const Invocation& it) {
  return it.in_place ? OutputOf(it).At(self.rank()) : InputOf(it).first;
}

Reduction ReductionOf(const Participant& self, const Invocation& it) {
  const bool has_result = it.operation == Operation::kAllreduce || self.rank() == it.root;
  return {it.in_place ? it.output : it.input, has_result ? it.output : nullptr, it.input_count,
          it.output_type, it.op};
}

}  // namespace

bool HasForm(const Invocation& it) {
  return it.operation != Operation::kAllgatherv ||
         std::ranges::all_of(it.output_counts,
                             [&](std::int64_t count) { return count == it.output_counts[0]; });
}

std::int64_t BytesOf(const Invocation& it) {
  switch (it.operation) {
    case Operation::kBarrier:
      return 0;
    case Operation::kReduce:
      return it.input_count * it.output_type->size;
    case Operation::kGather:
      return it.comm->rank == it.root ? it.output_count * it.output_type->size
                                      : it.input_count * it.input_type->size;
    case Operation::kScatter:
      return it.comm->rank == it.root ? it.input_count * it.input_type->size
                                      : it.output_count * it.output_type->size;
    case Operation::kAllgatherv:
      return it.output_counts[0] * it.output_type->size;
    default:
      return it.output_count * it.output_type->size;
  }
}

bool Perform(Participant& self, const Invocation& it) {
  const Blocks input = InputOf(it);
  const Blocks output = OutputOf(it);
  switch (it.operation) {
    case Operation::kBarrier:
      return Barrier(self);
    case Operation::kBcast:
      return Bcast(self, it.root, output.first);
    case Operation::kAllgather:
    case Operation::kAllgatherv:
      return Allgather(self, OwnBlockOf(self, it), output);
    case Operation::kGather:
      return Gather(self, it.root, OwnBlockOf(self, it), output);
    case Operation::kScatter:
      return Scatter(self, it.root, input, it.in_place ? input.At(self.rank()) : output.first);
    case Operation::kAlltoall:
      return Alltoall(self, it.in_place ? output : input, output);
    case Operation::kReduce:
      return Reduce(self, it.root, ReductionOf(self, it));
    default:
      return Allreduce(self, ReductionOf(self, it));
  }
}

Outcome PerformDirect(Participant& self, const Invocation& it) {
  switch (it.operation) {
    case Operation::kBcast:
      return BcastDirect(self, it.root, OutputOf(it).first);
    case Operation::kAllgather:
    case Operation::kAllgatherv:
      return AllgatherDirect(self, OwnBlockOf(self, it), OutputOf(it));
    case Operation::kAlltoall:
      return AlltoallDirect(self, InputOf(it), OutputOf(it));
    case Operation::kReduce:
      return ReduceDirect(self, it.root, ReductionOf(self, it));
    default:
      return ReduceDirect(self, -1, ReductionOf(self, it));
  }
}

}  // namespace lamina::collective::board
