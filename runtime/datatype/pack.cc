// SPDX-License-Identifier: BSD-3-Clause
// Pack, Unpack and Copy walk the groups of a layout.
//
// The loops at the bottom move many pieces of one size with a fixed number of loads and stores for
// each; which loop it is, is chosen once per group. Where an element has few pieces and there are
// many elements, the loops change places: each piece is moved for a whole tile of elements, so that
// the choices of a small struct are made once a tile and not once an element.
#include <algorithm>
#include <cstring>

#include "runtime/base/check.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/layout.h"
#include "runtime/datatype/piece.h"
#include "runtime/datatype/tuning.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/prefetch.h"

namespace lamina::datatype {
namespace {

// This says in which direction bytes go between the user's memory and the packed form.
enum class Direction { kPack, kUnpack };

template <Direction direction>
class Walk {
 public:
  using Packed = std::conditional_t<direction == Direction::kPack, std::byte*, const std::byte*>;

  // Moves the packed bytes [position, position + bytes) of elements of `layout`, the first at
  // `memory`, each `extent` after the last.
  static void Elements(std::byte* memory, const Layout& layout, std::int64_t extent,
                       std::int64_t position, Packed packed, std::int64_t bytes) {
    if (position != 0) {
      const std::int64_t within = position % layout.size;
      memory = At(memory, position / layout.size * extent);
      if (within != 0) {
        const std::int64_t head = std::min(layout.size - within, bytes);
        Within(memory, layout, within, packed, head);
        memory = At(memory, extent);
        packed += head;
        bytes -= head;
      }
    }
    const std::int64_t whole = bytes == layout.size ? 1 : bytes / layout.size;
    WholeElements(memory, layout, extent, packed, whole);
    const std::int64_t done = whole * layout.size;
    if (done < bytes) Within(At(memory, whole * extent), layout, 0, packed + done, bytes - done);
  }

 private:
  static void Move(std::byte* memory, Packed packed, std::int64_t bytes) {
    MovePiece<Any>(memory, packed, bytes);
  }
  template <class Copier>
  [[gnu::always_inline]] static void MovePiece(std::byte* memory, Packed packed,
                                               std::int64_t bytes) {
    if constexpr (direction == Direction::kPack) {
      Copier::Copy(packed, memory, bytes);
    } else {
      Copier::Copy(memory, packed, bytes);
    }
  }

  static void WholeElements(std::byte* memory, const Layout& layout, std::int64_t extent,
                            Packed packed, std::int64_t count) {
    if (layout.pieces == 1) {
      return Strided(At(memory, layout.groups[0].offset), extent, packed, layout.size, layout.size,
                     count);
    }
    if (const Group& only = layout.groups[0]; only.kind == Group::Kind::kStrided &&
                                              only.pieces == layout.pieces &&
                                              (only.pieces >= kGridSide || count < kGridSide))
      return Grid(At(memory, only.offset), only, extent, packed, count);
    if (count >= kElementsForColumns && layout.pieces <= kColumnsMax) {
      const std::int64_t span = layout.size + std::abs(extent);
      const std::int64_t tile = std::max(kTileBytes / span, kElementsForColumns);
      for (std::int64_t first = 0; first < count; first += tile)
        Columns(At(memory, first * extent), layout, extent, packed + first * layout.size,
                std::min(tile, count - first));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (const Group& group : layout.groups)
        Pieces(memory, group, 0, group.pieces, packed + group.position);
      memory = At(memory, extent);
      packed += layout.size;
    }
  }

  // Moves piece by piece, each for `count` elements.
  static void Columns(std::byte* memory, const Layout& layout, std::int64_t extent, Packed packed,
                      std::int64_t count) {
    for (const Group& group : layout.groups)
      for (std::int64_t i = 0; i < group.pieces; ++i) {
        std::int64_t at = group.offset, position = group.position, bytes = group.bytes;
        if (group.kind == Group::Kind::kStrided) {
          at += i * group.stride;
          position += i * bytes;
        } else if (group.kind == Group::Kind::kListed) {
          at += group.offsets[i];
          position += i * bytes;
        } else {
          at += group.offsets[i];
          position += group.ends[i];
          bytes = group.ends[i + 1] - group.ends[i];
        }
        Strided(At(memory, at), extent, packed + position, layout.size, bytes, count);
      }
  }

  // Moves the packed bytes [position, position + bytes) of one element, with bytes > 0.
  static void Within(std::byte* memory, const Layout& layout, std::int64_t position, Packed packed,
                     std::int64_t bytes) {
    const auto after = std::upper_bound(
        layout.groups.begin(), layout.groups.end(), position,
        [](std::int64_t value, const Group& group) { return value < group.position; });
    for (const Group* group = &*(after - 1); bytes > 0; ++group) {
      const std::int64_t skip = position - group->position;
      const std::int64_t here = std::min(group->size - skip, bytes);
      Part(memory, *group, skip, packed, here);
      position += here;
      packed += here;
      bytes -= here;
    }
  }

  // Does the same within one group.
  static void Part(std::byte* memory, const Group& group, std::int64_t skip, Packed packed,
                   std::int64_t bytes) {
    if (bytes == group.size) return Pieces(memory, group, 0, group.pieces, packed);
    if (group.kind == Group::Kind::kMixed) return PartOfMixed(memory, group, skip, packed, bytes);
    if (group.kind == Group::Kind::kNested)
      return Elements(At(memory, group.offset), *group.inner, group.stride, skip, packed, bytes);
    std::int64_t piece = skip / group.bytes;
    const std::int64_t within = skip % group.bytes;
    const auto place = [&](std::int64_t i) {
      return At(memory,
                group.offset + (group.offsets != nullptr ? group.offsets[i] : i * group.stride));
    };
    if (within != 0) {
      const std::int64_t head = std::min(group.bytes - within, bytes);
      Move(place(piece) + within, packed, head);
      ++piece;
      packed += head;
      bytes -= head;
    }
    const std::int64_t whole = bytes / group.bytes;
    Pieces(memory, group, piece, whole, packed);
    const std::int64_t done = whole * group.bytes;
    if (done < bytes) Move(place(piece + whole), packed + done, bytes - done);
  }

  static void PartOfMixed(std::byte* memory, const Group& group, std::int64_t skip, Packed packed,
                          std::int64_t bytes) {
    const std::int64_t* const ends_end = group.ends + group.pieces + 1;
    const auto find = [&](std::int64_t position) {  // finds the piece that holds it, or the end
      return std::upper_bound(group.ends, ends_end, position) - group.ends - 1;
    };
    std::int64_t first = find(skip);
    const std::int64_t last = find(skip + bytes);
    std::byte* const base = At(memory, group.offset);
    if (const std::int64_t within = skip - group.ends[first]; within != 0) {
      const std::int64_t head = std::min(group.ends[first + 1] - skip, bytes);
      Move(At(base, group.offsets[first] + within), packed, head);
      ++first;
      packed += head;
    }
    if (first > last) return;
    Pieces(memory, group, first, last - first, packed);
    if (const std::int64_t tail = skip + bytes - group.ends[last]; tail != 0)
      Move(At(base, group.offsets[last]), packed + group.ends[last] - group.ends[first], tail);
  }

  // Moves the pieces [first, first + count) of a group.
  static void Pieces(std::byte* memory, const Group& group, std::int64_t first, std::int64_t count,
                     Packed packed) {
    memory = At(memory, group.offset);
    switch (group.kind) {
      case Group::Kind::kStrided:
        return Strided(At(memory, first * group.stride), group.stride, packed, group.bytes,
                       group.bytes, count);
      case Group::Kind::kListed:
        return Listed(memory, group.offsets + first, packed, group.bytes, count);
      case Group::Kind::kMixed:
        return Mixed(memory, group, first, count, packed);
      case Group::Kind::kNested:
        return WholeElements(At(memory, first * group.stride), *group.inner, group.stride, packed,
                             count);
    }
  }

  // Moves `count` pieces of `bytes`, one every `stride` in memory and every `packed_stride` when
  // packed.
  static void Strided(std::byte* memory, std::int64_t stride, Packed packed,
                      std::int64_t packed_stride, std::int64_t bytes, std::int64_t count) {
    ChooseCopier(bytes, [=](auto copier) {
      Line<decltype(copier)>(memory, stride, packed, packed_stride, bytes, count);
    });
  }

  // Moves strided groups, one every `extent`: two loops after one choice.
  static void Grid(std::byte* memory, const Group& group, std::int64_t extent, Packed packed,
                   std::int64_t count) {
    const bool fetch = group.bytes >= kFetchedPiece &&
                       group.pieces * std::abs(group.stride) <= kPageBytes &&
                       count * std::abs(extent) > kCacheBytes;
    ChooseCopier(group.bytes, [&](auto copier) {
      for (std::int64_t i = 0; i < count; ++i) {
        std::byte* const first = At(memory, i * extent);
        const Packed to = packed + i * group.size;
        if (fetch) {
          __builtin_prefetch(At(first, kElementsAhead * extent));
          for (std::int64_t k = 0; k < group.pieces; ++k)
            MovePiece<decltype(copier)>(At(first, k * group.stride), to + k * group.bytes,
                                        group.bytes);
        } else {
          Line<decltype(copier)>(first, group.stride, to, group.bytes, group.bytes, group.pieces);
        }
      }
    });
  }

  template <class Copier>
  static void Line(std::byte* memory, std::int64_t stride, Packed packed,
                   std::int64_t packed_stride, std::int64_t bytes, std::int64_t count) {
    for (; count >= 4; count -= 4) {
      MovePiece<Copier>(memory, packed, bytes);
      MovePiece<Copier>(At(memory, stride), packed + packed_stride, bytes);
      MovePiece<Copier>(At(memory, 2 * stride), packed + 2 * packed_stride, bytes);
      MovePiece<Copier>(At(memory, 3 * stride), packed + 3 * packed_stride, bytes);
      memory = At(memory, 4 * stride);
      packed += 4 * packed_stride;
    }
    for (; count > 0; --count) {
      MovePiece<Copier>(memory, packed, bytes);
      memory = At(memory, stride);
      packed += packed_stride;
    }
  }

  static void Listed(std::byte* memory, const std::int64_t* offsets, Packed packed,
                     std::int64_t bytes, std::int64_t count) {
    ChooseCopier(bytes, [=](auto copier) {
      using Copier = decltype(copier);
      Packed to = packed;
      std::int64_t i = 0;
      for (; i + 4 <= count; i += 4) {
        MovePiece<Copier>(At(memory, offsets[i]), to, bytes);
        MovePiece<Copier>(At(memory, offsets[i + 1]), to + bytes, bytes);
        MovePiece<Copier>(At(memory, offsets[i + 2]), to + 2 * bytes, bytes);
        MovePiece<Copier>(At(memory, offsets[i + 3]), to + 3 * bytes, bytes);
        to += 4 * bytes;
      }
      for (; i < count; ++i) {
        MovePiece<Copier>(At(memory, offsets[i]), to, bytes);
        to += bytes;
      }
    });
  }

  static void Mixed(std::byte* memory, const Group& group, std::int64_t first, std::int64_t count,
                    Packed packed) {
    const std::int64_t* const offsets = group.offsets + first;
    const std::int64_t* const ends = group.ends + first;
    ChooseChangingCopier(group.least_bytes, group.bytes, [=](auto copier) {
      const Packed base = packed - ends[0];
      for (std::int64_t i = 0; i < count; ++i)
        MovePiece<decltype(copier)>(At(memory, offsets[i]), base + ends[i], ends[i + 1] - ends[i]);
    });
  }
};

template <Direction direction>
void Move(const Buffer& buffer, std::int64_t position, typename Walk<direction>::Packed packed,
          std::int64_t bytes) {
  const Datatype& type = *buffer.type;
  if (type.contiguous) {
    std::byte* const memory = At(buffer.address, type.true_lower + position);
    if constexpr (direction == Direction::kPack) {
      memory::CopyLong(packed, memory, static_cast<std::size_t>(bytes));
    } else {
      memory::CopyLong(memory, packed, static_cast<std::size_t>(bytes));
    }
    return;
  }
  Walk<direction>::Elements(static_cast<std::byte*>(buffer.address), *type.layout, type.extent,
                            position, packed, bytes);
}

}  // namespace

void Pack(const Buffer& from, std::int64_t position, std::span<std::byte> into) {
  const auto bytes = static_cast<std::int64_t>(into.size());
  DCHECK(position >= 0 && position + bytes <= from.bytes());
  if (bytes > 0) Move<Direction::kPack>(from, position, into.data(), bytes);
}

void Unpack(std::span<const std::byte> from, std::int64_t position, const Buffer& into) {
  const auto bytes = static_cast<std::int64_t>(from.size());
  DCHECK(position >= 0 && position + bytes <= into.bytes());
  if (bytes > 0) Move<Direction::kUnpack>(into, position, from.data(), bytes);
}

// A loop over short elements asks for too few lines of another processor's cache at a time, so this
// asks for them first. It is not inlined, because that would lengthen the path of contiguous data.
[[gnu::noinline]] void UnpackFresh(std::span<const std::byte> from, const Buffer& into) {
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t at = 0; at < std::min(from.size(), kFreshBytesMax); at += kLineBytes)
    memory::WillRead(from.data() + at);
  Unpack(from, 0, into);
}

void Copy(const Buffer& from, const Buffer& into) {
  const std::int64_t bytes = std::min(from.bytes(), into.bytes());
  if (bytes == 0) return;
  if (from.contiguous()) return Unpack({from.data(), static_cast<std::size_t>(bytes)}, 0, into);
  if (into.contiguous()) return Pack(from, 0, {into.data(), static_cast<std::size_t>(bytes)});
  // The data goes through a piece of stack that stays in the first-level cache.
  std::byte piece[8192];
  for (std::int64_t position = 0; position < bytes; position += sizeof piece) {
    const auto here =
        std::min<std::size_t>(sizeof piece, static_cast<std::size_t>(bytes - position));
    Pack(from, position, {piece, here});
    Unpack({piece, here}, position, into);
  }
}

}  // namespace lamina::datatype
