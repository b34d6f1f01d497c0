// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/external.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "runtime/datatype/definition.h"
#include "runtime/datatype/predefined.h"

namespace lamina::datatype {
namespace {

// This is one number of a predefined type.
struct Number {
  Basic basic;
  std::int64_t offset;
  std::int64_t bytes;     // in memory
  std::int64_t external;  // in external32
};

// A predefined type is one number, or two: a complex number or a pair.
struct Shape {
  Number numbers[2];
  int count;
};

// This is the table of section 14.5.2, whose sizes are those of a 32-bit machine.
std::int64_t ExternalBytes(Basic basic) {
  if (basic == Basic::kWchar) return 2;
  return basic == Basic::kLong || basic == Basic::kUnsignedLong ? 4 : BytesOf(basic);
}

Basic HalfOf(Basic complex) {
  switch (complex) {
    case Basic::kFloat16Complex:
      return Basic::kFloat16;
    case Basic::kFloatComplex:
      return Basic::kFloat;
    case Basic::kDoubleComplex:
      return Basic::kDouble;
    case Basic::kLongDoubleComplex:
      return Basic::kLongDouble;
    default:
      return Basic::kFloat128;
  }
}

Shape ShapeOf(const Datatype& type) {
  const auto number = [&](Basic basic, std::int64_t offset) {
    return Number{basic, offset, BytesOf(basic), ExternalBytes(basic)};
  };
  if (type.basic == Basic::kPair)
    return {{number(type.value, 0), number(type.index, IndexOffset(type.value, type.index))}, 2};
  if (!IsComplex(type.basic)) return {{number(type.basic, 0), {}}, 1};
  const Basic half = HalfOf(type.basic);
  return {{number(half, 0), number(half, BytesOf(half))}, 2};
}

bool IsSigned(Basic basic) { return basic >= Basic::kInt8 && basic <= Basic::kLong; }

// Memory is little-endian, so a shorter external number takes the low bytes.
void WriteNumber(const std::byte* memory, const Number& number, std::byte* into) {
  std::byte wide[16];
  if (number.basic == Basic::kLongDouble) {  // of x87, written as binary128
    long double value;
    std::memcpy(&value, memory, sizeof value);
    const __float128 quad = value;
    std::memcpy(wide, &quad, sizeof quad);
    memory = wide;
  }
  std::reverse_copy(memory, memory + number.external, into);
}

void ReadNumber(const std::byte* from, const Number& number, std::byte* memory) {
  const bool negative = IsSigned(number.basic) && (*from & std::byte{0x80}) != std::byte{0};
  std::byte wide[16];
  std::fill(std::begin(wide), std::end(wide), negative ? std::byte{0xff} : std::byte{0});
  std::reverse_copy(from, from + number.external, wide);
  if (number.basic == Basic::kLongDouble) {
    __float128 quad;
    std::memcpy(&quad, wide, sizeof quad);
    const long double value = static_cast<long double>(quad);
    constexpr std::size_t kX87Bytes = 10;  // what follows is padding
    std::fill(std::begin(wide), std::end(wide), std::byte{0});
    std::memcpy(wide, &value, kX87Bytes);
  }
  std::memcpy(memory, wide, static_cast<std::size_t>(number.bytes));
}

// Calls visit(address, predefined type) for every basic element of `count` elements, in type map
// order, until it returns false. Returns false in that case. What holds no data is passed over at
// once, however often it is repeated.
template <class Visit>
bool ForEachBasic(const Datatype& type, void* address, std::int64_t count, const Visit& visit) {
  if (type.size == 0) return true;
  for (std::int64_t i = 0; i < count; ++i) {
    std::byte* element = At(address, i * type.extent);
    if (type.predefined) {
      if (!visit(element, type)) return false;
      continue;
    }
    for (const Part& part : type.definition->parts) {
      if (part.count <= 0 || part.type->size == 0) continue;
      for (std::int64_t block = 0; block < part.repeats; ++block)
        if (!ForEachBasic(*part.type, At(element, part.displacement + block * part.stride),
                          part.count, visit))
          return false;
    }
  }
  return true;
}

}  // namespace

std::int64_t ExternalBytes(const Datatype& type) {
  std::int64_t bytes = 0;
  if (type.predefined) {
    const Shape shape = ShapeOf(type);
    for (int i = 0; i < shape.count; ++i) bytes += shape.numbers[i].external;
    return bytes;
  }
  for (const Part& part : type.definition->parts)
    bytes += std::max<std::int64_t>(part.count, 0) * std::max<std::int64_t>(part.repeats, 0) *
             ExternalBytes(*part.type);
  return bytes;
}

void PackExternal(const Buffer& from, std::byte* into) {
  ForEachBasic(*from.type, from.address, from.count,
               [&into](const std::byte* memory, const Datatype& type) {
                 const Shape shape = ShapeOf(type);
                 for (int i = 0; i < shape.count; ++i) {
                   WriteNumber(memory + shape.numbers[i].offset, shape.numbers[i], into);
                   into += shape.numbers[i].external;
                 }
                 return true;
               });
}

std::int64_t UnpackExternal(std::span<const std::byte> from, const Buffer& into) {
  std::int64_t written = 0;
  ForEachBasic(*into.type, into.address, into.count, [&](std::byte* memory, const Datatype& type) {
    const Shape shape = ShapeOf(type);
    std::int64_t bytes = 0;
    for (int i = 0; i < shape.count; ++i) bytes += shape.numbers[i].external;
    if (bytes > static_cast<std::int64_t>(from.size())) return false;
    const std::byte* at = from.data();
    for (int i = 0; i < shape.count; ++i) {
      ReadNumber(at, shape.numbers[i], memory + shape.numbers[i].offset);
      at += shape.numbers[i].external;
    }
    from = from.subspan(static_cast<std::size_t>(bytes));
    written += type.size;
    return true;
  });
  return written;
}

}  // namespace lamina::datatype
