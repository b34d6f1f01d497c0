// SPDX-License-Identifier: BSD-3-Clause
// One piece of memory is copied by a few loads and stores, which are known when the loop around it
// is compiled. The loops are in pack.cc.
//
// Everything here is inlined by force, because link-time optimisation would call it for every
// piece.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/memory/copy.h"

namespace lamina::datatype {

// A vector is what one load brings, or a few of the widest that every processor has.
typedef std::uint64_t Vector __attribute__((vector_size(16)));
template <std::size_t size>
struct Word {
  struct Type {
    Vector vectors[size / sizeof(Vector)];
  };
};
template <>
struct Word<1> {
  using Type = std::uint8_t;
};
template <>
struct Word<2> {
  using Type = std::uint16_t;
};
template <>
struct Word<4> {
  using Type = std::uint32_t;
};
template <>
struct Word<8> {
  using Type = std::uint64_t;
};
template <std::size_t size>
[[gnu::always_inline]] inline typename Word<size>::Type Load(const std::byte* from) {
  typename Word<size>::Type word;
  std::memcpy(&word, from, size);
  return word;
}
template <std::size_t size>
[[gnu::always_inline]] inline void Store(std::byte* to, typename Word<size>::Type word) {
  std::memcpy(to, &word, size);
}

// One piece is copied by its size: with one word where it has that size, with two that overlap
// where it is less than twice that.
template <std::size_t size>
struct Whole {
  [[gnu::always_inline]] static void Copy(std::byte* to, const std::byte* from, std::int64_t) {
    std::memcpy(to, from, size);
  }
};
template <std::size_t half>
struct Halves {
  [[gnu::always_inline]] static void Copy(std::byte* to, const std::byte* from,
                                          std::int64_t bytes) {
    const std::int64_t end = bytes - static_cast<std::int64_t>(half);
    const auto first = Load<half>(from), last = Load<half>(from + end);
    Store<half>(to, first);
    Store<half>(to + end, last);
  }
};
// Copies any size from `unit` to four times that without a branch, by four words that overlap as
// needed.
template <std::size_t unit>
struct Quarters {
  [[gnu::always_inline]] static void Copy(std::byte* to, const std::byte* from,
                                          std::int64_t bytes) {
    constexpr auto kUnit = static_cast<std::int64_t>(unit);
    const std::int64_t end = bytes - kUnit;
    const std::int64_t at_second = std::min(kUnit, end), at_third = std::min(2 * kUnit, end);
    const auto first = Load<unit>(from), second = Load<unit>(from + at_second);
    const auto third = Load<unit>(from + at_third), last = Load<unit>(from + end);
    Store<unit>(to, first);
    Store<unit>(to + at_second, second);
    Store<unit>(to + at_third, third);
    Store<unit>(to + end, last);
  }
};
struct Any {
  [[gnu::always_inline]] static void Copy(std::byte* to, const std::byte* from,
                                          std::int64_t bytes) {
    memory::CopyLong(to, from, static_cast<std::size_t>(bytes));
  }
};

// Copies sizes that change from piece to piece, at the cost of branches.
struct Changing {
  [[gnu::always_inline]] static void Copy(std::byte* to, const std::byte* from,
                                          std::int64_t bytes) {
    if (bytes <= 32) {
      if (bytes >= 8) return Quarters<8>::Copy(to, from, bytes);
      if (bytes >= 2) return Quarters<2>::Copy(to, from, bytes);
      *to = *from;
      return;
    }
    if (bytes <= 128) return Quarters<32>::Copy(to, from, bytes);
    Any::Copy(to, from, bytes);
  }
};

// Calls `use` with the copier for pieces of `least` to `most` bytes.
template <class Use>
[[gnu::always_inline]] inline void ChooseChangingCopier(std::int64_t least, std::int64_t most,
                                                        Use use) {
  if (least >= 32 && most <= 128) return use(Quarters<32>{});
  if (least >= 16 && most <= 64) return use(Quarters<16>{});
  if (least >= 8 && most <= 32) return use(Quarters<8>{});
  if (least >= 4 && most <= 16) return use(Quarters<4>{});
  return use(Changing{});
}

// Calls `use` with the copier for pieces of `bytes` (> 0).
template <class Use>
[[gnu::always_inline]] inline void ChooseCopier(std::int64_t bytes, Use use) {
  switch (bytes) {
    case 1:
      return use(Whole<1>{});
    case 2:
      return use(Whole<2>{});
    case 4:
      return use(Whole<4>{});
    case 8:
      return use(Whole<8>{});
    case 16:
      return use(Whole<16>{});
    case 12:
      return use(Whole<12>{});
    case 24:
      return use(Whole<24>{});
    case 32:
      return use(Whole<32>{});
    case 48:
      return use(Whole<48>{});
    case 64:
      return use(Whole<64>{});
    default:
      if (bytes < 4) return use(Halves<2>{});
      if (bytes < 8) return use(Halves<4>{});
      if (bytes < 16) return use(Halves<8>{});
      if (bytes < 32) return use(Halves<16>{});
      if (bytes < 64) return use(Halves<32>{});
      if (bytes <= 128) return use(Halves<64>{});
      return use(Any{});
  }
}

}  // namespace lamina::datatype
