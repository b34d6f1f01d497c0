// SPDX-License-Identifier: BSD-3-Clause
// Copies of a few bytes without a call, and of many bytes where memcpy may be slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lamina::memory {

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

// From about this length on, the C library leaves a copy to one instruction (rep movsb) if it takes
// the processor to be fast at it.
inline constexpr std::size_t kMovedBytesMin = 2048;

// Copies like memcpy, but back to front. Copying forward to a slightly higher page offset makes
// each load alias the store before it (4K aliasing, see README.md); copying backward never does.
void CopyFromEnd(std::byte* to, const std::byte* from, std::size_t bytes);

// True if `to` lies a few bytes further into its page than `from` into its own.
inline bool FewAhead(const void* to, std::uintptr_t from) {
  constexpr std::uintptr_t kPage = 4096, kFew = 64;
  const std::uintptr_t ahead = (reinterpret_cast<std::uintptr_t>(to) - from) % kPage;
  return ahead != 0 && ahead < kFew;
}

// True if a copy by that instruction is slow for these addresses, as it is on AMD's Zen 3 where
// they alias. The kernel copies between processes by the same instruction.
inline bool SlowToMove(const void* to, std::uintptr_t from) {
#if defined(__x86_64__)
  const bool amd = __builtin_cpu_is("amd");
#else
  constexpr bool amd = false;
#endif
  return FewAhead(to, from) && amd;
}

// Copies like memcpy, and is not slow where that is.
inline void CopyLong(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= kMovedBytesMin && SlowToMove(to, reinterpret_cast<std::uintptr_t>(from)))
    return CopyFromEnd(to, from, bytes);
  std::memcpy(to, from, bytes);
}

// Copies like memcpy, where most copies are short.
inline void CopyMostlyShort(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes <= kShortCopyBytesMax) [[likely]]
    return CopyShort(to, from, bytes);
  CopyLong(to, from, bytes);
}

}  // namespace lamina::memory
