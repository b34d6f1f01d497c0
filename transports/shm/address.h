// SPDX-License-Identifier: BSD-3-Clause
// The address that a process publishes so that others can open its segment. README.md has the byte
// table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::shm {

struct Address {
  std::array<std::byte, 16> boot_id{};  // names this run of the kernel
  std::uint64_t pid_namespace = 0;      // inode of /proc/self/ns/pid; 0: not that of /proc
  std::int32_t pid = 0;
  std::int32_t descriptor = 0;
  std::uint32_t uid = 0;
  std::uint32_t cells = 0;
  std::uint32_t area_bytes = 0;
  std::uint32_t rings_max = 0;
  std::uint64_t token = 0;          // random; the segment's header holds the same
  std::uint64_t inode = 0;          // of the file that the segment is in
  std::uint64_t offset = 0;         // where the segment begins in it
  std::uint64_t probe_address = 0;  // where the owner's memory holds `token`, to try reading it

  bool operator==(const Address&) const = default;
};
inline constexpr std::size_t kAddressBytes = 88;

std::vector<std::byte> Encode(const Address& address);
// kInvalid names what is wrong; every field is in range on success.
Result<Address> DecodeAddress(std::span<const std::byte> bytes);

// Fills in boot_id and pid_namespace of this process. kUnsupported: /proc does not tell the boot
// id.
Status FillMachine(Address* address);

}  // namespace lamina::shm
