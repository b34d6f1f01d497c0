// SPDX-License-Identifier: BSD-3-Clause
// Assertions about our own code. Input from outside is never checked this way: see status.h.
#pragma once

namespace lamina {

// Prints who we are, where we are, `expression` and the last events of this process, then aborts.
[[noreturn, gnu::cold]] void CheckFailed(const char* file, int line, const char* expression);

}  // namespace lamina

#define CHECK(expression)                             \
  (__builtin_expect(static_cast<bool>(expression), 1) \
       ? static_cast<void>(0)                         \
       : ::lamina::CheckFailed(__FILE__, __LINE__, #expression))

// DCHECK is for the short path; optimised builds leave it out.
#ifdef NDEBUG
#define DCHECK(expression) static_cast<void>(sizeof(static_cast<bool>(expression)))
#else
#define DCHECK(expression) CHECK(expression)
#endif
