// SPDX-License-Identifier: BSD-3-Clause
// Memory of windows in a job that is saved from outside: files in a folder that the processes of
// the node share, because an engine maps again by its name what several processes have mapped, and
// whoever saves the job finds there what is in it.
//
// The folder is in memory and ends with the job (launcher/spawn/process_space.h).
#pragma once

#include <cstddef>
#include <string>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"
#include "runtime/memory/sealed_memory.h"

namespace lamina::rma {

// Returns the folder; "" if the job is not saved by an engine that needs one.
std::string MemoryFolder(const Environment& environment);
// True if the job can be saved from outside, so nothing of it may lie in memory that the launcher
// has made for the node.
bool IsSavedFromOutside(const Environment& environment);

// Makes a file of `bytes` bytes in the folder. `*path` is where.
Result<memory::MadeSealed> MakeNamed(const std::string& folder, std::size_t bytes,
                                     std::string* path);
Result<memory::Sealed> OpenNamed(const memory::SealedName& name);

}  // namespace lamina::rma
