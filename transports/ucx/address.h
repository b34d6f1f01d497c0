// SPDX-License-Identifier: BSD-3-Clause
// A process's UCX address, together with the name of its node, for messages, and a checksum,
// because UCX does not survive a damaged address. README.md has the byte table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::ucx {

struct Address {
  std::string node;
  std::vector<std::byte> worker;  // the result of ucp_worker_get_address
  std::uint64_t secret = 0;       // random; every frame to this process bears it
};

std::vector<std::byte> Encode(const Address& address);
// kInvalid names what is wrong.
Result<Address> DecodeAddress(std::span<const std::byte> bytes);

}  // namespace lamina::ucx
