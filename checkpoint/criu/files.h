// SPDX-License-Identifier: BSD-3-Clause
// Files that processes write while they are saved: how long they are is kept with the images, and
// what has come behind that is taken away before the processes are revived, because it comes again.
//
// Threads: one. What is here may wait for a disk.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

// Notes in `folder` the regular files that a process and all below it have open for writing. They
// stand still.
Status NoteFiles(std::int64_t process, int folder);

// Shortens the files that are noted in `folder` to what they were, if they are longer and still the
// same. What is missing or shorter is for criu to complain about.
void CutFiles(int folder);

}  // namespace lamina::checkpoint::criu
