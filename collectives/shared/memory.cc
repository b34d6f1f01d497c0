// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/shared/memory.h"

#include <sys/uio.h>

namespace lamina::collective::shared {
namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                             unsigned long);

// One call may do less than was asked.
bool All(Transfer transfer, std::int32_t pid, std::uint64_t address, std::byte* here,
         std::int64_t bytes) {
  while (bytes > 0) {
    const iovec local{here, static_cast<std::size_t>(bytes)};
    const iovec remote{reinterpret_cast<void*>(address), static_cast<std::size_t>(bytes)};
    const ssize_t moved = transfer(pid, &local, 1, &remote, 1, 0);
    if (moved <= 0) return false;
    here += moved;
    address += static_cast<std::uint64_t>(moved);
    bytes -= moved;
  }
  return true;
}

}  // namespace

bool ReadFrom(std::int32_t pid, std::uint64_t address, std::byte* into, std::int64_t bytes) {
  return All(process_vm_readv, pid, address, into, bytes);
}

bool WriteTo(std::int32_t pid, std::uint64_t address, const std::byte* from, std::int64_t bytes) {
  return All(process_vm_writev, pid, address, const_cast<std::byte*>(from), bytes);
}

bool CanReach(std::int32_t pid, std::uint64_t address, std::uint64_t expected) {
  std::uint64_t word = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&word);
  return ReadFrom(pid, address, bytes, sizeof word) && word == expected &&
         WriteTo(pid, address, bytes, sizeof word);
}

}  // namespace lamina::collective::shared
