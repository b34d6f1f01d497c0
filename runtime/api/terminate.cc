// SPDX-License-Identifier: BSD-3-Clause
// What becomes of an exception of the C++ library (memory that ran out in a container): nobody here
// catches it. The library's own handler would bring what it needs to print the exception's name,
// 40 kB, into every process.
#include <exception>

#include "runtime/base/check.h"

void __gnu_cxx::__verbose_terminate_handler() { CHECK(!"an exception of the C++ library"); }
