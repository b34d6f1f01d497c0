// SPDX-License-Identifier: BSD-3-Clause
// Assertions about our own code. Input from outside is never checked this way: see status.h.
#pragma once

namespace lamina {

// Prints who, where, `expression` and the last events of this process; aborts.
[[noreturn, gnu::cold]] void CheckFailed(const char* file, int line, const char* expression);

}  // namespace lamina

#define CHECK(expression)                             \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::lamina::CheckFailed(__FILE__, __LINE__, #expression))

// For the short path: gone from optimised builds.
#ifdef NDEBUG
#define DCHECK(expression) static_cast<void>(sizeof(static_cast<bool>(expression)))
#else
#define DCHECK(expression) CHECK(expression)
#endif
