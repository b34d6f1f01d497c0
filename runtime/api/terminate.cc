// SPDX-License-Identifier: BSD-3-Clause
// Nobody here catches an exception of the C++ library, such as memory that ran out in a container.
// The library's own handler would bring the code that prints the exception's name into every
// process.
#include <exception>

#include "runtime/base/check.h"

void __gnu_cxx::__verbose_terminate_handler() { CHECK(!"an exception of the C++ library"); }
