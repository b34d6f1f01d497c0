// SPDX-License-Identifier: BSD-3-Clause
// Reads what the kernel says of a process in /proc/PID/stat, and which children it has.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

struct ProcessStat {
  std::string name;  // the kernel's short one, which may hold anything
  char state = '?';  // Z has ended, T is stopped
  pid_t parent = 0;
  std::uint64_t cpu_ticks = 0;    // in the program and in the kernel, with all threads
  std::uint64_t start_ticks = 0;  // since the machine began
  std::uint64_t pages = 0;        // of memory, that it has
};

// Nothing, if `text` is no such file.
std::optional<ProcessStat> DecodeStat(std::string_view text);
// Nothing, if there is no such process.
std::optional<ProcessStat> StatOf(std::int64_t process);
// The children of a process, whichever of its threads they belong to.
std::vector<pid_t> ChildrenOf(std::int64_t process);

}  // namespace lamina
