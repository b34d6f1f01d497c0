// SPDX-License-Identifier: BSD-3-Clause
// What is known of a file system by the number that the kernel has for its kind
// (statfs(2)).
#pragma once

#include <cstdint>

namespace lamina::io {

enum class Sharing {
  kLocal,        // one node has it, so files of other nodes are other files
  kCoherent,     // all nodes see the same at all times
  kCloseToOpen,  // other nodes are sure to see a change only when they lock or
                 // open the file anew
};

struct FileSystem {
  std::uint64_t magic;
  const char* name;
  Sharing sharing;
};

// A kind that nobody has heard of is called "unknown" and may be of a network.
const FileSystem& FileSystemOf(std::uint64_t magic);
// The kind on which this process's current folder lies.
const FileSystem& FileSystemHere();

}  // namespace lamina::io
