// SPDX-License-Identifier: BSD-3-Clause
// A directory of checkpoints may have a folder on a faster disk, or in memory, into which the
// states of its job are written first. A link `local` in the directory leads there. So whoever is
// given the directory finds both, and the folder of a directory that was deleted is never taken for
// that of a new one.
//
// Threads: one.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace lamina::checkpoint {

// Returns the path of the folder; "": the directory has none. It may not be there, for instance on
// another machine.
std::string LocalOf(int directory);

// Returns the path of the folder below `where`, an absolute path. The directory gets a new one if
// it has none there. Nobody has made it yet.
Result<std::string> ChooseLocal(int directory, const std::string& where);

}  // namespace lamina::checkpoint
