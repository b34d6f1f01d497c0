// SPDX-License-Identifier: BSD-3-Clause
// Copies past the caches. An ordinary store first fetches its line, and puts out another one; where
// more is written than the caches hold until it is read, both are in vain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lamina::collective::shared {

// As memcpy. Other threads see it as they see ordinary stores.
inline void StreamingCopy(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t kWord = sizeof(__m128i);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % kWord;
  std::size_t done = std::min(bytes, (kWord - past) % kWord);
  std::memcpy(to, from, done);
  for (; done + kWord <= bytes; done += kWord) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done), word);
  }
  std::memcpy(to + done, from + done, bytes - done);
  _mm_sfence();  // or a store that tells of it could be seen first
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace lamina::collective::shared
