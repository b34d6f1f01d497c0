// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/memory/peer_memory.h"

#include <sys/uio.h>

#include <algorithm>
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

constexpr std::size_t kPiecesMax = 64;

// Moves as many pieces as one call takes. If it stops short, each piece is tried on its own, which
// also finds out why.
template <class Move>
Access MovePieces(Move move, std::int32_t pid, std::span<const PeerPiece> pieces,
                  std::uint64_t ours) {
  while (!pieces.empty()) {
    iovec remote[kPiecesMax];
    const std::size_t here = std::min(pieces.size(), kPiecesMax);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < here; ++i) {
      remote[i] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].bytes};
      bytes += pieces[i].bytes;
    }
    const iovec local{reinterpret_cast<void*>(ours), bytes};
    const ssize_t moved = move(pid, &local, 1, remote, here, 0);
    std::uint64_t at = ours;
    if (moved < 0 || static_cast<std::size_t>(moved) != bytes)
      for (const PeerPiece& piece : pieces.first(here)) {
        const Access access = MoveAll(move, pid, at, piece.address, piece.bytes);
        if (access != Access::kDone) return access;
        at += piece.bytes;
      }
    ours += bytes;
    pieces = pieces.subspan(here);
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

Access ReadPeerPieces(std::int32_t pid, std::span<const PeerPiece> pieces, std::byte* into) {
  return MovePieces(process_vm_readv, pid, pieces, AddressOf(into));
}

Access WritePeerPieces(std::int32_t pid, std::span<const PeerPiece> pieces, const std::byte* from) {
  return MovePieces(process_vm_writev, pid, pieces, AddressOf(from));
}

}  // namespace lamina::memory
