// SPDX-License-Identifier: BSD-3-Clause
// The memory of the other members, read and written without their help (runtime/memory). A kernel
// may forbid it: CanReach asks once. It may forbid it later as well, when a process has given up
// rights of its own.
//
// A member that publishes an address must neither touch what lies there nor return it to the
// application before all others have had what they want of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory/peer_memory.h"

namespace lamina::collective::board {

using memory::Access;
using memory::AddressOf;

// Unlike memory::ReadPeer and memory::WritePeer, these answer kDenied also where there is no such
// memory, and log it.
Access ReadFrom(std::int32_t pid, std::uint64_t address, std::byte* into, std::int64_t bytes);
Access WriteTo(std::int32_t pid, std::uint64_t address, const std::byte* from, std::int64_t bytes);

// True if the word at `address` of `pid` can be read, is `expected`, and can be written.
bool CanReach(std::int32_t pid, std::uint64_t address, std::uint64_t expected);

}  // namespace lamina::collective::board
