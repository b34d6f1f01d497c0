// SPDX-License-Identifier: BSD-3-Clause
// A file without a name, for memory that several processes share.
#pragma once

#include "runtime/base/status.h"

namespace lamina {

// Returns a descriptor of a new, empty file, which the caller closes; exec closes it too. Its
// number is 3 or more, because 0 to 2 belong to the program, which may have closed them. `label` is
// what /proc shows.
//
// It is a memfd, which can be sealed. Where a filter forbids memfd_create, it is a file in /dev/shm
// or /tmp that has no name and cannot be sealed. kResource names everything that was tried.
Result<int> MakeAnonymousFile(const char* label);

// Moves a descriptor to a number that is 3 or more, and returns -1 with errno set, and `fd` closed,
// if none is free.
int OutOfTheWay(int fd);

}  // namespace lamina
