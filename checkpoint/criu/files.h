// SPDX-License-Identifier: BSD-3-Clause
// Files that processes have open while they are saved: how long they are is kept with the images.
// What has come behind that in a file that they write is taken away before the processes are
// revived, because it comes again.
//
// Threads: one. What is here may wait for a disk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

// Notes in `folder` the regular files that a process and all below it have open or run. They stand
// still.
Status NoteFiles(std::int64_t process, int folder);

// Shortens the files that are written and noted in `folder` to what they were, if they are longer
// and still the same.
void CutFiles(int folder);

// Returns what has become of the files that are noted in `folder`, a sentence for each with which
// the processes cannot be revived.
std::vector<std::string> LostFiles(int folder);

// Returns a sentence about a file that two of these folders know, but not as equally long, or that
// has no name by which both could find it again; "" if there is none.
std::string TornFile(std::span<const int> folders);

}  // namespace lamina::checkpoint::criu
