// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/external.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/datatype/definition.h"

namespace lamina::datatype {
namespace {

// How one predefined type is written: `numbers` numbers of `bytes` each, at `offsets` in memory.
struct Shape {
  int numbers;
  std::int64_t bytes[2];     // in memory
  std::int64_t external[2];  // in external32
  std::int64_t offsets[2];
  bool extended;  // the first number is an x87 long double, written as binary128
};

Shape Same(std::int64_t bytes) { return {1, {bytes, 0}, {bytes, 0}, {0, 0}, false}; }
Shape Twice(std::int64_t bytes) { return {2, {bytes, bytes}, {bytes, bytes}, {0, bytes}, false}; }

Shape ShapeOf(const Datatype& type) {
  switch (type.basic) {
    case Basic::kFloat16Complex:
    case Basic::kFloatComplex:
    case Basic::kDoubleComplex:
    case Basic::kFloat128Complex:
    case Basic::kTwoReal:
    case Basic::kTwoDouble:
    case Basic::kTwoInt:
    case Basic::kFloatInt:
      return Twice(type.size / 2);
    case Basic::kDoubleInt:
    case Basic::kLongInt:
      return {2, {8, 4}, {8, 4}, {0, 8}, false};
    case Basic::kShortInt:
      return {2, {2, 4}, {2, 4}, {0, 4}, false};
    case Basic::kLongDoubleInt:
      return {2, {16, 4}, {16, 4}, {0, 16}, true};
    case Basic::kLongDouble:
      return {1, {16, 0}, {16, 0}, {0, 0}, true};
    case Basic::kLongDoubleComplex:
      return {2, {16, 16}, {16, 16}, {0, 16}, true};
    case Basic::kWchar:
      return {1, {4, 0}, {2, 0}, {0, 0}, false};
    default:
      return Same(type.size);
  }
}

bool IsExtended(const Datatype& type, const Shape& shape, int number) {
  return shape.extended && (number == 0 || type.basic == Basic::kLongDoubleComplex);
}

// Memory is little-endian; a shorter external number takes the low bytes.
void WriteNumber(const std::byte* memory, std::int64_t external, bool extended, std::byte* into) {
  std::byte wide[16];
  if (extended) {
    long double value;
    std::memcpy(&value, memory, sizeof value);
    const __float128 quad = value;
    std::memcpy(wide, &quad, sizeof quad);
    memory = wide;
  }
  std::reverse_copy(memory, memory + external, into);
}

void ReadNumber(const std::byte* from, std::int64_t external, std::int64_t bytes, bool extended,
                std::byte* memory) {
  std::byte wide[16] = {};
  std::reverse_copy(from, from + external, wide);
  if (extended) {
    __float128 quad;
    std::memcpy(&quad, wide, sizeof quad);
    const long double value = static_cast<long double>(quad);
    constexpr std::size_t kX87Bytes = 10;  // what follows is padding
    std::fill(std::begin(wide), std::end(wide), std::byte{0});
    std::memcpy(wide, &value, kX87Bytes);
  }
  std::memcpy(memory, wide, static_cast<std::size_t>(bytes));
}

// Calls visit(address, predefined type) for every basic element of `count` elements, in type map
// order.
template <class Visit>
void ForEachBasic(const Datatype& type, void* address, std::int64_t count, const Visit& visit) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* element = At(address, i * type.extent);
    if (type.predefined) {
      visit(element, type);
      continue;
    }
    for (const Part& part : type.definition->parts)
      for (std::int64_t block = 0; block < part.repeats; ++block)
        ForEachBasic(*part.type, At(element, part.displacement + block * part.stride), part.count,
                     visit);
  }
}

}  // namespace

std::int64_t ExternalBytes(const Datatype& type) {
  if (type.predefined) {
    const Shape shape = ShapeOf(type);
    return shape.external[0] + shape.external[1];
  }
  std::int64_t bytes = 0;
  for (const Part& part : type.definition->parts)
    bytes += std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0) *
             ExternalBytes(*part.type);
  return bytes;
}

void PackExternal(const Buffer& from, std::byte* into) {
  ForEachBasic(*from.type, from.address, from.count,
               [&into](const std::byte* memory, const Datatype& type) {
                 const Shape shape = ShapeOf(type);
                 for (int i = 0; i < shape.numbers; ++i) {
                   WriteNumber(memory + shape.offsets[i], shape.external[i],
                               IsExtended(type, shape, i), into);
                   into += shape.external[i];
                 }
               });
}

void UnpackExternal(const std::byte* from, const Buffer& into) {
  ForEachBasic(*into.type, into.address, into.count,
               [&from](std::byte* memory, const Datatype& type) {
                 const Shape shape = ShapeOf(type);
                 for (int i = 0; i < shape.numbers; ++i) {
                   ReadNumber(from, shape.external[i], shape.bytes[i], IsExtended(type, shape, i),
                              memory + shape.offsets[i]);
                   from += shape.external[i];
                 }
               });
}

}  // namespace lamina::datatype
