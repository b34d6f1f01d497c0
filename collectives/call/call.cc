// SPDX-License-Identifier: BSD-3-Clause
// Derives what plans may know from the real arguments.
#include <algorithm>
#include <numeric>

#include "collectives/call/invocation.h"

namespace lamina::collective {
namespace {

using datatype::Datatype;
using Counts = std::span<const std::int64_t>;

std::int64_t SizeOf(const Datatype* type) { return type == nullptr ? 0 : type->size; }

std::int64_t Sum(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

// The counts, but 0 for elements that have no bytes.
Counts Significant(Counts counts, const Datatype* type, std::span<const Datatype* const> types,
                   std::vector<std::int64_t>* store) {
  const auto empty = [](const Datatype* one) { return one->size == 0; };
  const bool all_good =
      types.empty() ? SizeOf(type) != 0 : std::none_of(types.begin(), types.end(), empty);
  if (counts.empty() || all_good) return counts;
  store->assign(counts.begin(), counts.end());
  for (std::size_t i = 0; i < store->size(); ++i)
    if (types.empty() || empty(types[i])) (*store)[i] = 0;
  return *store;
}

std::int64_t BytesOf(const Invocation& it, bool at_root) {
  if (!Sized(it.operation)) return 0;
  const std::int64_t input = it.input_count * SizeOf(it.input_type);
  const std::int64_t output = it.output_count * SizeOf(it.output_type);
  switch (it.operation) {
    case Operation::kGather:
      return at_root ? output : input;
    case Operation::kScatter:
      return at_root ? input : output;
    case Operation::kAllgatherv:
    case Operation::kReduceScatter:
      return Sum(it.output_counts) * SizeOf(it.output_type);
    case Operation::kReduce:
      return it.input_count * SizeOf(it.output_type);
    default:
      return output;
  }
}

}  // namespace

Call MakeCall(const Invocation& it, CountStore* store) {
  Call call;
  call.operation = it.operation;
  call.commutative = it.op == nullptr || it.op->commutative;
  call.all_in_place = it.in_place && !Rooted(it.operation);
  call.board = it.board;
  call.root = it.root;
  call.bytes = BytesOf(it, it.comm->rank == it.root);
  call.in_place = it.in_place;
  call.input_count = it.input_count;
  call.output_count = it.output_count;
  if (Reduces(it.operation)) {
    call.output_counts = it.output_counts;
    return call;
  }
  if (SizeOf(it.input_type) == 0) call.input_count = 0;
  if (SizeOf(it.output_type) == 0) call.output_count = 0;
  if (it.input_counts.empty() && it.output_counts.empty()) return call;
  call.input_counts = Significant(it.input_counts, it.input_type, it.input_types, &store->input);
  call.input_displacements = it.input_displacements;
  call.output_counts =
      Significant(it.output_counts, it.output_type, it.output_types, &store->output);
  call.output_displacements = it.output_displacements;
  return call;
}

bool Empty(const Call& call, const core::Comm& comm) {
  // Between two groups one direction may have data and the other none, and some ranks do nothing
  // whatever the count is.
  return call.bytes == 0 && Sized(call.operation) && !comm.is_inter();
}

}  // namespace lamina::collective
