// SPDX-License-Identifier: BSD-3-Clause
// Another process's memory, by the kernel's cross-memory attach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lamina::shm {

// Reads `into.size()` bytes at `address` of process `pid`. 0 or an errno value.
int ReadMemory(std::int32_t pid, std::uint64_t address, std::span<std::byte> into);
// Writes `bytes` bytes from our `from` to `address` of process `pid`. Neither has to exist: 0 or an
// errno value.
int WriteMemory(std::int32_t pid, std::uint64_t address, std::uint64_t from, std::size_t bytes);

}  // namespace lamina::shm
