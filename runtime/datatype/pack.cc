// SPDX-License-Identifier: BSD-3-Clause
// Pack, Unpack and Copy walk the runs of a type. The one loop that matters moves pieces of equal
// size at equal distances; it is written out for the sizes of basic types so that each piece is one
// load and one store.
#include <algorithm>
#include <cstring>

#include "runtime/base/check.h"
#include "runtime/datatype/datatype.h"

namespace lamina::datatype {
namespace {

// Which way the bytes go between the user's memory and the packed form.
enum class Way { kPack, kUnpack };

template <Way way>
struct Bytes {
  using Packed = std::conditional_t<way == Way::kPack, std::byte*, const std::byte*>;

  static void Move(std::byte* memory, Packed packed, std::size_t bytes) {
    if constexpr (way == Way::kPack) {
      std::memcpy(packed, memory, bytes);
    } else {
      std::memcpy(memory, packed, bytes);
    }
  }

  template <std::size_t bytes>
  static void MoveFixed(std::byte* memory, std::int64_t stride, Packed packed,
                        std::int64_t pieces) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      Move(memory, packed, bytes);
      memory += stride;
      packed += bytes;
    }
  }

  // `pieces` whole pieces of `bytes`, `stride` apart in memory, end to end in packed form.
  static void MovePieces(std::byte* memory, std::int64_t stride, Packed packed, std::int64_t bytes,
                         std::int64_t pieces) {
    switch (bytes) {
      case 1:
        return MoveFixed<1>(memory, stride, packed, pieces);
      case 2:
        return MoveFixed<2>(memory, stride, packed, pieces);
      case 4:
        return MoveFixed<4>(memory, stride, packed, pieces);
      case 8:
        return MoveFixed<8>(memory, stride, packed, pieces);
      case 12:
        return MoveFixed<12>(memory, stride, packed, pieces);
      case 16:
        return MoveFixed<16>(memory, stride, packed, pieces);
      case 24:
        return MoveFixed<24>(memory, stride, packed, pieces);
      case 32:
        return MoveFixed<32>(memory, stride, packed, pieces);
      case 64:
        return MoveFixed<64>(memory, stride, packed, pieces);
      default:
        for (std::int64_t piece = 0; piece < pieces; ++piece) {
          Move(memory, packed, static_cast<std::size_t>(bytes));
          memory += stride;
          packed += bytes;
        }
    }
  }

  // Packed bytes [skip, skip + bytes) of a regular run that begins at `memory`.
  static void MoveRun(std::byte* memory, const Run& run, std::int64_t skip, Packed packed,
                      std::int64_t bytes) {
    memory += skip / run.bytes * run.stride;
    const std::int64_t within = skip % run.bytes;
    if (within != 0) {
      const std::int64_t head = std::min(run.bytes - within, bytes);
      Move(memory + within, packed, static_cast<std::size_t>(head));
      memory += run.stride;
      packed += head;
      bytes -= head;
    }
    const std::int64_t whole = bytes / run.bytes;
    MovePieces(memory, run.stride, packed, run.bytes, whole);
    const std::int64_t tail = bytes - whole * run.bytes;
    if (tail != 0)
      Move(memory + whole * run.stride, packed + whole * run.bytes, static_cast<std::size_t>(tail));
  }
};

// The run of `type` in which packed byte `position` (< type.size) lies. O(log runs).
const Run* RunAt(const Datatype& type, std::int64_t position) {
  const auto after =
      std::upper_bound(type.runs.begin(), type.runs.end(), position,
                       [](std::int64_t value, const Run& run) { return value < run.position; });
  return &*(after - 1);
}

template <Way way>
void Walk(const Buffer& buffer, std::int64_t position, typename Bytes<way>::Packed packed,
          std::int64_t bytes) {
  if (bytes == 0) return;
  const Datatype& type = *buffer.type;
  if (type.contiguous) {
    Bytes<way>::Move(At(buffer.address, type.true_lower + position), packed,
                     static_cast<std::size_t>(bytes));
    return;
  }
  if (type.runs.size() == 1 && type.runs[0].count == 1) {
    // One piece an element: the whole buffer is one regular run.
    const Run across{0, type.size, buffer.count, type.extent, 0};
    Bytes<way>::MoveRun(At(buffer.address, type.runs[0].offset), across, position, packed, bytes);
    return;
  }
  std::int64_t element = position / type.size * type.extent;
  std::int64_t within = position % type.size;
  const Run* const end = type.runs.data() + type.runs.size();
  const Run* run = within == 0 ? type.runs.data() : RunAt(type, within);
  while (true) {
    const std::int64_t skip = within - run->position;
    const std::int64_t here = std::min(run->bytes * run->count - skip, bytes);
    Bytes<way>::MoveRun(At(buffer.address, element + run->offset), *run, skip, packed, here);
    packed += here;
    bytes -= here;
    if (bytes == 0) return;
    within += here;
    if (++run == end) {
      run = type.runs.data();
      within = 0;
      element += type.extent;
    }
  }
}

}  // namespace

void Pack(const Buffer& from, std::int64_t position, std::span<std::byte> into) {
  const auto bytes = static_cast<std::int64_t>(into.size());
  DCHECK(position >= 0 && position + bytes <= from.bytes());
  Walk<Way::kPack>(from, position, into.data(), bytes);
}

void Unpack(std::span<const std::byte> from, std::int64_t position, const Buffer& into) {
  const auto bytes = static_cast<std::int64_t>(from.size());
  DCHECK(position >= 0 && position + bytes <= into.bytes());
  Walk<Way::kUnpack>(into, position, from.data(), bytes);
}

void Copy(const Buffer& from, const Buffer& into) {
  const std::int64_t bytes = std::min(from.bytes(), into.bytes());
  if (bytes == 0) return;
  if (from.contiguous()) return Unpack({from.data(), static_cast<std::size_t>(bytes)}, 0, into);
  if (into.contiguous()) return Pack(from, 0, {into.data(), static_cast<std::size_t>(bytes)});
  // Through a piece of stack that stays in the first-level cache.
  std::byte piece[8192];
  for (std::int64_t position = 0; position < bytes; position += sizeof piece) {
    const auto here =
        std::min<std::size_t>(sizeof piece, static_cast<std::size_t>(bytes - position));
    Pack(from, position, {piece, here});
    Unpack({piece, here}, position, into);
  }
}

}  // namespace lamina::datatype
