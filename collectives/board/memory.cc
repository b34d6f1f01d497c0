// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/memory.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/log.h"

namespace lamina::collective::board {
namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

// 0 or an errno value. One call may do less than was asked.
int All(Transfer transfer, std::int32_t pid, std::uint64_t address, std::byte* here,
        std::int64_t bytes) {
  while (bytes > 0) {
    const iovec local{here, static_cast<std::size_t>(bytes)};
    const iovec remote{reinterpret_cast<void*>(address), static_cast<std::size_t>(bytes)};
    const ssize_t moved = transfer(pid, &local, 1, &remote, 1, 0);
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    here += moved;
    address += static_cast<std::uint64_t>(moved);
    bytes -= moved;
  }
  return 0;
}

// CanReach was true once: what has changed since is worth a line, unless it is that the process is
// gone, which others tell.
Access Report(int error, const char* what, std::int32_t pid) {
  if (error == 0) return Access::kDone;
  if (error == ESRCH) return Access::kGone;
  Log(Level::kInfo, "board",
      "the memory of process %d can no longer be %s: %s; long collectives of a communicator with "
      "it go the other way from now on",
      pid, what, strerror(error));
  return Access::kDenied;
}

}  // namespace

Access ReadFrom(std::int32_t pid, std::uint64_t address, std::byte* into, std::int64_t bytes) {
  return Report(All(process_vm_readv, pid, address, into, bytes), "read", pid);
}

Access WriteTo(std::int32_t pid, std::uint64_t address, const std::byte* from, std::int64_t bytes) {
  return Report(All(process_vm_writev, pid, address, const_cast<std::byte*>(from), bytes),
                "written", pid);
}

bool CanReach(std::int32_t pid, std::uint64_t address, std::uint64_t expected) {
  std::uint64_t word = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&word);
  return All(process_vm_readv, pid, address, bytes, sizeof word) == 0 && word == expected &&
         All(process_vm_writev, pid, address, bytes, sizeof word) == 0;
}

}  // namespace lamina::collective::board
