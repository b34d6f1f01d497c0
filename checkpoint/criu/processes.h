// SPDX-License-Identifier: BSD-3-Clause
// What /proc tells of processes, as far as it can be read: they may end meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace lamina::checkpoint::criu {

// Returns what a link leads to; "" if there is none.
std::string LinkAt(const std::filesystem::path& path);

// Returns what is in a folder of /proc.
std::vector<std::filesystem::path> EntriesOf(const std::filesystem::path& folder);

std::string TextAt(const std::filesystem::path& path);

// Returns the numbers of a process and of all below it, itself first.
std::vector<std::string> ProcessesFrom(std::int64_t process);

}  // namespace lamina::checkpoint::criu
