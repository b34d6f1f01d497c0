// SPDX-License-Identifier: BSD-3-Clause
// Copies: of a few bytes without a call, of many whatever the processor makes of memcpy.
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

// Copies of at least this much memcpy leaves to one instruction (rep movsb) where the C library
// takes a processor to be fast at it (from 2112 bytes on, with glibc 2.36).
inline constexpr std::size_t kMovedBytesMin = 2048;

// As memcpy, from the last bytes to the first: what is read next has never the place in its page of
// what was just written if that lies a little further on, or the processor takes it for the same.
void CopyFromEnd(std::byte* to, const std::byte* from, std::size_t bytes);

// Does `to` lie a few bytes further into its page than `from` into its own? What malloc() gives out
// for a long array begins 16 bytes into a page, what ranks share begins with one.
inline bool FewAhead(const void* to, std::uintptr_t from) {
  constexpr std::uintptr_t kPage = 4096, kFew = 64;
  const std::uintptr_t ahead = (reinterpret_cast<std::uintptr_t>(to) - from) % kPage;
  return ahead != 0 && ahead < kFew;
}

// AMD's Zen 3 then copies by that instruction, as the C library and the kernel ask it to, at 2 to 3
// GB/s instead of 40 to 80. (Of Intel's this is known where both are 4 GiB and a few bytes apart.)
inline bool SlowToMove(const void* to, std::uintptr_t from) {
#if defined(__x86_64__)
  const bool amd = __builtin_cpu_is("amd");
#else
  constexpr bool amd = false;
#endif
  return FewAhead(to, from) && amd;
}

// As memcpy, also where that is slow.
inline void CopyLong(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= kMovedBytesMin && SlowToMove(to, reinterpret_cast<std::uintptr_t>(from)))
    return CopyFromEnd(to, from, bytes);
  std::memcpy(to, from, bytes);
}

// Copies that are mostly short.
inline void CopyMostlyShort(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes <= kShortCopyBytesMax) [[likely]]
    return CopyShort(to, from, bytes);
  CopyLong(to, from, bytes);
}

}  // namespace lamina::memory
