// SPDX-License-Identifier: BSD-3-Clause
// The memory of windows that ranks of a node share: files in the folder of a ProcessSpace, which
// are kept beside the images of one of these ranks, under names that begin with kMemoryName.
//
// Threads: one. What is here takes as long as copying that memory does.
#pragma once

#include <string_view>

#include "runtime/base/status.h"

namespace lamina::launcher {

inline constexpr std::string_view kMemoryName = "memory-";

// Copies all files of the folder `memory` into the folder `into`, over what is there.
Status KeepMemory(int memory, int into);
// Copies those back that are in the folder `from`.
Status LayMemoryDown(int from, int memory);

}  // namespace lamina::launcher
