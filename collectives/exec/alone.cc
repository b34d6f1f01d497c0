// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/alone.h"

namespace lamina::collective {
namespace {

using datatype::Buffer;
using datatype::Datatype;

// Block 0 of a side: at its displacement in the v-forms, at the beginning elsewhere.
Buffer Only(const void* address, std::int64_t count, const Datatype* type,
            std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
            std::int64_t displacement_bytes) {
  auto* base = static_cast<std::byte*>(const_cast<void*>(address));
  if (!displacements.empty()) base += displacements[0] * displacement_bytes;
  return {base, counts.empty() ? count : counts[0], type};
}

}  // namespace

void RunAlone(const Invocation& it) {
  if (it.operation == Operation::kBarrier || it.operation == Operation::kBcast ||
      it.operation == Operation::kExscan || it.in_place)
    return;
  if (Reduces(it.operation)) {
    const std::int64_t count = it.output_counts.empty() ? it.output_count : it.output_counts[0];
    return datatype::Copy({const_cast<void*>(it.input), count, it.output_type},
                          {it.output, count, it.output_type});
  }
  const bool typed = it.operation == Operation::kAlltoallw;
  const Datatype* input_type = typed ? it.input_types[0] : it.input_type;
  const Datatype* output_type = typed ? it.output_types[0] : it.output_type;
  datatype::Copy(Only(it.input, it.input_count, input_type, it.input_counts, it.input_displacements,
                      typed ? 1 : input_type->extent),
                 Only(it.output, it.output_count, output_type, it.output_counts,
                      it.output_displacements, typed ? 1 : output_type->extent));
}

}  // namespace lamina::collective
