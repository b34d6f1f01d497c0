// SPDX-License-Identifier: BSD-3-Clause
// Copies of a few bytes without a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lamina {

inline constexpr std::size_t kShortCopyBytesMax = 48;

// Copies up to kShortCopyBytesMax bytes by overlapping words, never beyond either end. `to` and
// `from` must not overlap.
inline void CopyShort(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto move = [&](std::size_t at, auto word) {
    std::memcpy(&word, from + at, sizeof word);
    std::memcpy(to + at, &word, sizeof word);
  };
  struct Pair {
    std::uint64_t words[2];
  };
  if (bytes >= 16) {
    move(0, Pair{});
    if (bytes > 32) move(16, Pair{});
    move(bytes - 16, Pair{});
  } else if (bytes >= 8) {
    move(0, std::uint64_t{});
    move(bytes - 8, std::uint64_t{});
  } else if (bytes >= 4) {
    move(0, std::uint32_t{});
    move(bytes - 4, std::uint32_t{});
  } else {
    for (std::size_t at = 0; at < bytes; ++at) to[at] = from[at];
  }
}

// Copies that are mostly short.
inline void CopyMostlyShort(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes <= kShortCopyBytesMax) [[likely]]
    return CopyShort(to, from, bytes);
  std::memcpy(to, from, bytes);
}

}  // namespace lamina
