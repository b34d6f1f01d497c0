// SPDX-License-Identifier: BSD-3-Clause
// The memory of the other members, read and written without their help (process_vm_readv and
// process_vm_writev). A kernel may forbid it: CanReach asks once. It may forbid it later as well,
// when a process has given up rights of its own.
//
// Who publishes an address must not touch what lies there, nor return it to the application, before
// all others have had what they want of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::collective::board {

enum class Access {
  kDone,
  kDenied,  // it is forbidden by now, or there is no such memory; nothing was moved
  kGone,    // the process is
};
Access ReadFrom(std::int32_t pid, std::uint64_t address, std::byte* into, std::int64_t bytes);
Access WriteTo(std::int32_t pid, std::uint64_t address, const std::byte* from, std::int64_t bytes);

// Can the word at `address` of `pid` be read, and is it `expected`? And can it be written?
bool CanReach(std::int32_t pid, std::uint64_t address, std::uint64_t expected);

inline std::uint64_t AddressOf(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace lamina::collective::board
