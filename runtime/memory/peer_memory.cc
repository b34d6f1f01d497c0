// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/peer_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace lamina::memory {
namespace {

Access AccessOf(int error) {
  switch (error) {
    case ESRCH:
      return Access::kGone;
    case EPERM:
    case ENOSYS:
      return Access::kDenied;
    default:
      return Access::kAbsent;
  }
}

// `move` is process_vm_readv or process_vm_writev, which may stop short.
template <class Move>
Access MoveAll(Move move, std::int32_t pid, std::uint64_t ours, std::uint64_t theirs,
               std::size_t bytes) {
  while (bytes > 0) {
    const iovec local{reinterpret_cast<void*>(ours), bytes};
    const iovec remote{reinterpret_cast<void*>(theirs), bytes};
    const ssize_t moved = move(pid, &local, 1, &remote, 1, 0);
    if (moved == 0) errno = EFAULT;
    if (moved <= 0) return AccessOf(errno);
    ours += static_cast<std::uint64_t>(moved);
    theirs += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return Access::kDone;
}

}  // namespace

Access ReadPeer(std::int32_t pid, std::uint64_t address, std::span<std::byte> into) {
  return MoveAll(process_vm_readv, pid, AddressOf(into.data()), address, into.size());
}

Access WritePeer(std::int32_t pid, std::uint64_t address, std::uint64_t from, std::size_t bytes) {
  return MoveAll(process_vm_writev, pid, from, address, bytes);
}

}  // namespace lamina::memory
