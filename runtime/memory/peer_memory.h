// SPDX-License-Identifier: BSD-3-Clause
// The memory of another process, read and written without its help (process_vm_readv and
// process_vm_writev): one copy instead of two.
//
// A kernel may forbid it from the start, as in containers, or from the moment on when a process
// gives up rights. So each user tries it once and keeps another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lamina::memory {

enum class Access : std::uint8_t {
  kDone,
  kDenied,  // the kernel forbids it
  kAbsent,  // one of the two processes has no such memory
  kGone,    // the process has ended
};

inline std::uint64_t AddressOf(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// Fills `into` from `address` of process `pid`. Unless it returns kDone, errno says why and part of
// the bytes may have been moved.
Access ReadPeer(std::int32_t pid, std::uint64_t address, std::span<std::byte> into);

// Writes `bytes` bytes from our address `from` to `address` of process `pid`, otherwise like
// ReadPeer. `from` may come from the other process, so it need not exist.
Access WritePeer(std::int32_t pid, std::uint64_t address, std::uint64_t from, std::size_t bytes);

// One piece of the memory of another process.
struct PeerPiece {
  std::uint64_t address;
  std::size_t bytes;
};

// These do the same for several pieces of process `pid`, which lie one after the other in our
// memory from `into` or `from` on. Few pieces in one call are fewer system calls.
Access ReadPeerPieces(std::int32_t pid, std::span<const PeerPiece> pieces, std::byte* into);
Access WritePeerPieces(std::int32_t pid, std::span<const PeerPiece> pieces, const std::byte* from);

}  // namespace lamina::memory
