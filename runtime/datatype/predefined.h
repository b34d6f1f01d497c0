// SPDX-License-Identifier: BSD-3-Clause
// This is the table of predefined datatypes, and what follows from the kinds of elements they are
// made of.
#pragma once

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

std::span<Datatype> PredefinedTypes();

// Returns the bytes of one element in memory, with the padding inside long double; 0 for kNone and
// kPair.
constexpr std::int64_t BytesOf(Basic basic) {
  switch (basic) {
    case Basic::kNone:
    case Basic::kPair:
      return 0;
    case Basic::kByte:
    case Basic::kChar:
    case Basic::kInt8:
    case Basic::kUint8:
    case Basic::kBool:
    case Basic::kLogical1:
    case Basic::kPacked:
      return 1;
    case Basic::kInt16:
    case Basic::kUint16:
    case Basic::kFloat16:
    case Basic::kLogical2:
      return 2;
    case Basic::kInt32:
    case Basic::kUint32:
    case Basic::kFloat:
    case Basic::kFloat16Complex:
    case Basic::kLogical4:
    case Basic::kWchar:
      return 4;
    case Basic::kInt64:
    case Basic::kLong:
    case Basic::kUint64:
    case Basic::kUnsignedLong:
    case Basic::kDouble:
    case Basic::kFloatComplex:
    case Basic::kLogical8:
      return 8;
    case Basic::kInt128:
    case Basic::kLongDouble:
    case Basic::kFloat128:
    case Basic::kDoubleComplex:
    case Basic::kLogical16:
      return 16;
    case Basic::kLongDoubleComplex:
    case Basic::kFloat128Complex:
      return 32;
  }
  return 0;
}

constexpr bool IsComplex(Basic basic) {
  return basic >= Basic::kFloatComplex && basic <= Basic::kFloat128Complex;
}

constexpr std::int64_t AlignmentOf(Basic basic) {
  const std::int64_t bytes = BytesOf(basic);
  return IsComplex(basic) ? bytes / 2 : bytes == 0 ? 1 : bytes;
}

// Returns where the index of a pair begins.
constexpr std::int64_t IndexOffset(Basic value, Basic index) {
  const std::int64_t alignment = AlignmentOf(index);
  return (BytesOf(value) + alignment - 1) / alignment * alignment;
}

// Fills in what a predefined type says about itself, except its layout and its name.
constexpr void DescribeSingle(Datatype* type, Basic basic) {
  type->basic = basic;
  type->size = type->extent = type->true_extent = BytesOf(basic);
  type->alignment = AlignmentOf(basic);
  type->elements = 1;
  type->contiguous = type->committed = type->predefined = true;
}
constexpr void DescribePair(Datatype* type, Basic value, Basic index) {
  DescribeSingle(type, Basic::kPair);
  type->value = value;
  type->index = index;
  type->size = BytesOf(value) + BytesOf(index);
  type->alignment =
      AlignmentOf(value) > AlignmentOf(index) ? AlignmentOf(value) : AlignmentOf(index);
  type->true_extent = IndexOffset(value, index) + BytesOf(index);
  type->extent = (type->true_extent + type->alignment - 1) / type->alignment * type->alignment;
  type->contiguous = type->size == type->extent;
  type->elements = 2;
}

}  // namespace lamina::datatype
