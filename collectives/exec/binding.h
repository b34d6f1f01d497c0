// SPDX-License-Identifier: BSD-3-Clause
// Where the slices of a plan lie in this call's memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/call/invocation.h"
#include "collectives/select/plan_cache.h"

namespace lamina::collective {

class Binding {
 public:
  // Binds everything but scratch. The invocation's input_types and output_types must stay.
  explicit Binding(const Invocation& invocation);

  // How much scratch `plan` needs in this call.
  std::size_t ScratchBytes(const Plan& plan) const;
  // `memory` has ScratchBytes(plan).
  void SetScratch(const Plan& plan, std::byte* memory);

  datatype::Buffer At(const Slice& slice) const {
    const Place& place = places_[static_cast<std::size_t>(slice.where)];
    if (slice.type_of >= 0) [[unlikely]]
      return TypedAt(slice);
    return {datatype::At(place.base, slice.first * place.stride), slice.count * place.per_element,
            place.type};
  }

  const datatype::Op* op() const { return op_; }

  // Carries out a step kCopy or kReduce.
  void Perform(const Step& step) const;

 private:
  struct Place {
    std::byte* base = nullptr;
    std::int64_t stride = 0;  // bytes from element to element
    const datatype::Datatype* type = nullptr;
    std::int64_t per_element = 1;  // how many of `type` are one element
  };
  datatype::Buffer TypedAt(const Slice& slice) const;
  // How far below (or, if positive, above) their address the data of `count` elements begins.
  std::int64_t Below(std::int64_t count) const;

  Place places_[3];
  const datatype::Op* op_;
  std::span<const datatype::Datatype* const> input_types_;
  std::span<const datatype::Datatype* const> output_types_;
};

}  // namespace lamina::collective
