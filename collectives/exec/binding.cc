// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exec/binding.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/memory/copy.h"

namespace lamina::collective {
namespace {

using datatype::Buffer;
using datatype::Datatype;

constexpr std::size_t kScratch = static_cast<std::size_t>(Where::kScratch);
// Vector instructions that combine elements of a reduction want this alignment.
constexpr std::size_t kElementAlignment = 64;

}  // namespace

Binding::Binding(const Invocation& it)
    : op_(it.op), input_types_(it.input_types), output_types_(it.output_types) {
  Place& input = places_[static_cast<std::size_t>(Where::kInput)];
  Place& output = places_[static_cast<std::size_t>(Where::kOutput)];
  Place& scratch = places_[kScratch];
  output = {static_cast<std::byte*>(it.output), 0, it.output_type, 1};
  if (Typed(it.operation)) {
    input = {static_cast<std::byte*>(const_cast<void*>(it.input)), 1, nullptr, 1};
    output.stride = 1;
    return;
  }
  if (it.output_type != nullptr) output.stride = it.output_type->extent;
  if (Reduces(it.operation)) {
    input = output;
    if (!it.in_place) input.base = static_cast<std::byte*>(const_cast<void*>(it.input));
    scratch = {nullptr, output.stride, output.type, 1};
    return;
  }
  if (it.input_type != nullptr)
    input = {static_cast<std::byte*>(const_cast<void*>(it.input)), it.input_type->extent,
             it.input_type, 1};
  const bool input_units =
      it.operation == Operation::kGather || it.operation == Operation::kGatherv;
  const Datatype* unit = input_units ? it.input_type : it.output_type;
  static const Datatype* const bytes = datatype::FindDatatype(MPI_BYTE);
  if (unit != nullptr) scratch = {nullptr, unit->size, bytes, unit->size};
  if (unit == nullptr) scratch = {nullptr, 0, bytes, 0};
}

std::int64_t Binding::Below(std::int64_t count) const {
  const Datatype& type = *places_[kScratch].type;
  return type.true_lower + std::min<std::int64_t>(0, (count - 1) * type.extent);
}

std::size_t Binding::ScratchBytes(const Plan& plan) const {
  const std::int64_t count = plan.scratch_elements;
  if (count == 0) return 0;
  if (!output_types_.empty()) {
    std::int64_t largest = 0;
    for (const Datatype* type : output_types_) largest = std::max(largest, type->size);
    return static_cast<std::size_t>(count * largest);
  }
  if (op_ == nullptr) return static_cast<std::size_t>(count * places_[kScratch].stride);
  const Datatype& type = *places_[kScratch].type;
  const std::int64_t stride = type.extent < 0 ? -type.extent : type.extent;
  return static_cast<std::size_t>(type.true_extent + (count - 1) * stride) + kElementAlignment;
}

void Binding::SetScratch(const Plan& plan, std::byte* memory) {
  if (plan.scratch_elements == 0) return;
  if (op_ == nullptr) {
    places_[kScratch].base = memory;
    return;
  }
  // The elements are aligned, and not their first bytes, because a user's function may expect that
  // of its structures.
  std::byte* const element = memory - Below(plan.scratch_elements);
  const auto past = reinterpret_cast<std::uintptr_t>(element) % kElementAlignment;
  places_[kScratch].base = past == 0 ? element : element + (kElementAlignment - past);
}

Buffer Binding::TypedAt(const Slice& slice) const {
  const auto rank = static_cast<std::size_t>(slice.type_of);
  const Place& place = places_[static_cast<std::size_t>(slice.where)];
  if (slice.where == Where::kScratch) {
    static const Datatype* const bytes = datatype::FindDatatype(MPI_BYTE);
    return {place.base, slice.count * output_types_[rank]->size, bytes};
  }
  const auto& types = slice.where == Where::kInput ? input_types_ : output_types_;
  return {datatype::At(place.base, slice.first), slice.count, types[rank]};
}

void Binding::Perform(const Step& step) const {
  const Buffer from = At(step.from);
  const Buffer into = At(step.to);
  if (step.verb == Verb::kReduce) {
    if (from.count == 0) return;
    return datatype::Reduce(*op_, from.address, into.address, from.count, *into.type);
  }
  if (from.contiguous() && into.contiguous() && from.bytes() == into.bytes()) {
    if (from.bytes() > 0 && from.data() != into.data())
      memory::CopyLong(into.data(), from.data(), static_cast<std::size_t>(from.bytes()));
    return;
  }
  datatype::Copy(from, into);
}

}  // namespace lamina::collective
