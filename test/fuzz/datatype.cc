// SPDX-License-Identifier: BSD-3-Clause
// Datatypes that a tree of constructor calls describes, packed and unpacked, also as external32.
#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/datatype/construct.h"
#include "runtime/datatype/external.h"
#include "runtime/datatype/runs.h"
#include "test/fuzz/input.h"

namespace lamina::datatype {
namespace {

constexpr std::int64_t kBytesMax = 4096;  // of data, and of memory between the first and the last

// The types that were made so far; new ones are made of them.
class Types {
 public:
  Types() {
    for (MPI_Datatype handle : {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_SHORT_INT, MPI_LONG,
                                MPI_DOUBLE_INT, MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE})
      types_.push_back(FindDatatype(handle));
  }
  ~Types() { std::ranges::for_each(types_, Release); }

  Datatype* Pick(fuzz::Input* input) {
    return types_[types_.size() - 1 - input->Take<std::uint8_t>() % types_.size()];
  }
  Datatype* last() const { return types_.back(); }
  // Makes one more type, as the input says. One that is too large for memory is let go again.
  void Add(fuzz::Input* input) {
    const auto word = input->Take<std::uint8_t>();
    const auto number = [input] { return std::int64_t{input->Take<std::int8_t>()}; };
    const auto count = [input] { return std::int64_t{input->Take<std::uint8_t>() % 9}; };
    Datatype* const of = Pick(input);
    Datatype* made = nullptr;
    switch (word % 7) {
      case 0:
        made = MakeContiguous(count(), of);
        break;
      case 1:
        made = MakeVector(count(), count(), number(), of);
        break;
      case 2: {
        std::vector<Part> parts;
        for (std::int64_t i = count(); i > 0; --i)
          parts.push_back({Pick(input), number(), count(), 1, 0});
        made = MakeBlocks(std::move(parts));
        break;
      }
      case 3:
        made = MakeResized(number(), number(), of);
        break;
      case 4:
        made = MakeDup(of);
        break;
      case 5: {
        std::vector<Dimension> dimensions(1 + input->Take<std::uint8_t>() % 3);
        for (Dimension& each : dimensions) {
          each.size = 1 + count();
          each.start = count() % each.size;
          each.subsize = 1 + count() % (each.size - each.start);
        }
        made = MakeSubarray(dimensions, of);
        break;
      }
      default:
        made = input->Take<std::uint8_t>() % 2 == 0
                   ? MakeContiguous(input->Take<std::int64_t>() & INT64_MAX, of)
                   : MakeVector(2, 1, input->Take<std::int64_t>(), of);
    }
    if (made == nullptr) return;
    Commit(made);
    const Span span = SpanOf(1, *made);
    if (made->size <= kBytesMax && span.end - span.begin <= kBytesMax &&
        made->extent >= -kBytesMax && made->extent <= kBytesMax)
      types_.push_back(made);
    else
      Release(made);
  }

 private:
  std::vector<Datatype*> types_;
};

std::vector<std::byte> Counter(std::size_t bytes) {
  std::vector<std::byte> memory(bytes);
  unsigned value = 1;
  for (std::byte& byte : memory) byte = static_cast<std::byte>(value++ * 151u);
  return memory;
}

// A buffer's memory, exactly as large as the span of its data.
struct Memory {
  Memory(std::int64_t count, const Datatype* type, std::vector<std::byte> filled)
      : bytes(std::move(filled)),
        buffer{At(bytes.data(), -SpanOf(count, *type).begin), count, type} {}
  std::vector<std::byte> bytes;
  Buffer buffer;
};

void Look(const Datatype* type, std::int64_t count, std::int64_t cut) {
  const Span span = SpanOf(count, *type);
  if (span.end - span.begin > kBytesMax) return;
  const auto room = static_cast<std::size_t>(span.end - span.begin);
  const auto size = static_cast<std::size_t>(count * type->size);
  // The bytes in type map order, one run after the other.
  Memory from(count, type, Counter(room));
  std::vector<std::byte> expected;
  ForEachRun(count, *type, [&](const Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::int64_t begin = run.offset + i * run.stride;
      CHECK(begin >= span.begin && begin + run.bytes <= span.end);
      const std::byte* const first = At(from.buffer.address, begin);
      expected.insert(expected.end(), first, first + run.bytes);
    }
    return true;
  });
  CHECK(expected.size() == size);
  std::vector<std::byte> packed(size);
  const std::size_t first = size == 0 ? 0 : static_cast<std::size_t>(cut) % size;
  Pack(from.buffer, 0, std::span(packed).first(first));
  Pack(from.buffer, static_cast<std::int64_t>(first), std::span(packed).subspan(first));
  CHECK(packed == expected);
  // What is unpacked, in two pieces or by a copy, packs to the same unless bytes lie on each other.
  Memory into(count, type, std::vector<std::byte>(room)), copy = into;
  copy.buffer.address = At(copy.bytes.data(), -span.begin);
  Unpack(std::span(packed).first(first), 0, into.buffer);
  Unpack(std::span(packed).subspan(first), static_cast<std::int64_t>(first), into.buffer);
  Copy(from.buffer, copy.buffer);
  CHECK(copy.bytes == into.bytes);
  std::vector<std::byte> again(size);
  Pack(into.buffer, 0, again);
  CHECK(again == packed);

  const auto external = static_cast<std::size_t>(count * ExternalBytes(*type));
  CHECK(external <= size);
  std::vector<std::byte> big(external);
  PackExternal(from.buffer, big.data());
  Memory back(count, type, std::vector<std::byte>(room));
  CHECK(UnpackExternal(big, back.buffer) == static_cast<std::int64_t>(size));
  UnpackExternal(std::span(big).first(external / 2), back.buffer);
}

}  // namespace
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::int64_t count = input.Take<std::uint8_t>() % 5;
  const std::int64_t cut = input.Take<std::uint16_t>();
  Types types;
  for (int made = 0; made < 8 && !input.empty(); ++made) types.Add(&input);
  Look(types.last(), count, cut);
  return 0;
}

}  // namespace lamina::datatype
