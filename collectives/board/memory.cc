// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/memory.h"

#include <cerrno>
#include <cstring>

#include "runtime/base/log.h"

namespace lamina::collective::board {
namespace {

// CanReach was true once, so whatever has changed since is worth a line in the log. The end of the
// process is not, because others report it.
Access Report(Access access, const char* what, std::int32_t pid) {
  if (access == Access::kDone || access == Access::kGone) return access;
  Log(Level::kInfo, "board",
      "the memory of process %d can no longer be %s: %s; long collectives of a communicator with "
      "it go the other way from now on",
      pid, what, strerror(errno));
  return Access::kDenied;
}

}  // namespace

Access ReadFrom(std::int32_t pid, std::uint64_t address, std::byte* into, std::int64_t bytes) {
  return Report(memory::ReadPeer(pid, address, {into, static_cast<std::size_t>(bytes)}), "read",
                pid);
}

Access WriteTo(std::int32_t pid, std::uint64_t address, const std::byte* from, std::int64_t bytes) {
  return Report(memory::WritePeer(pid, address, AddressOf(from), static_cast<std::size_t>(bytes)),
                "written", pid);
}

bool CanReach(std::int32_t pid, std::uint64_t address, std::uint64_t expected) {
  std::uint64_t word = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&word);
  return memory::ReadPeer(pid, address, {bytes, sizeof word}) == Access::kDone &&
         word == expected &&
         memory::WritePeer(pid, address, AddressOf(&word), sizeof word) == Access::kDone;
}

}  // namespace lamina::collective::board
