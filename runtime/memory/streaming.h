// SPDX-License-Identifier: BSD-3-Clause
// Copies past the caches. An ordinary store first fetches its line and pushes another one out; both
// are in vain if the caches have lost the data before somebody reads it. And if the reader shares
// no cache with the writer, memory may be nearer to it than the writer's cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/memory/copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lamina::memory {

// Copies like memcpy; other threads see the result as they see ordinary stores. It goes from the
// last line to the first and reads each whole line before it writes it, for the reason that copy.h
// gives for CopyFromEnd.
inline void StreamingCopy(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kWord = sizeof(__m128i), kLine = 4 * kWord;
  const auto load = [from](std::size_t at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
  };
  const auto store = [to](std::size_t at, __m128i word) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), word);
  };
  const std::size_t past = std::min(bytes, reinterpret_cast<std::uintptr_t>(to + bytes) % kLine);
  std::size_t left = bytes - past;  // at the front
  std::memcpy(to + left, from + left, past);
  while (left >= kLine) {
    left -= kLine;
    const __m128i first = load(left), second = load(left + kWord);
    const __m128i third = load(left + 2 * kWord), last = load(left + 3 * kWord);
    store(left, first);
    store(left + kWord, second);
    store(left + 2 * kWord, third);
    store(left + 3 * kWord, last);
  }
  std::memcpy(to, from, left);
  _mm_sfence();  // or a later store that announces the data could be seen before it
#else
  std::memcpy(to, from, bytes);
#endif
}

enum class Stores : std::uint8_t { kOrdinary, kStreaming };

// Copies like memcpy, with stores of that kind.
inline void Copy(std::byte* to, const std::byte* from, std::size_t bytes, Stores stores) {
  if (stores == Stores::kStreaming) {
    StreamingCopy(to, from, bytes);
  } else {
    CopyLong(to, from, bytes);
  }
}

}  // namespace lamina::memory
