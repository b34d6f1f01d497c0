// SPDX-License-Identifier: BSD-3-Clause
// Asks for cache lines before they are needed.
#pragma once

namespace lamina::memory {

// Begins to fetch a line that is going to be written.
inline void WillWrite(const void* line) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

// Begins to fetch a line that is going to be read.
inline void WillRead(const void* line) { __builtin_prefetch(line); }

}  // namespace lamina::memory
