// SPDX-License-Identifier: BSD-3-Clause
// The name of a port says where its process listens and what a guest has to know to be let in:
//
//   lamina1-SECRET-LOOPBACK-CHECK@ADDRESS:PORT,ADDRESS:PORT
//
// SECRET is 128 random bits and LOOPBACK the number of the machine's network (place.h), both
// hexadecimal; loopback leads to it from where that is the same. CHECK is a checksum of all the
// rest.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/seal.h"
#include "runtime/base/status.h"

namespace lamina::dynamic {

struct PortName {
  Key secret{};
  std::uint32_t loopback = 0;
  std::vector<std::string> addresses;  // "10.0.0.7:40123", "[fd00::7]:40123" or, on this machine
                                       // alone, "local:0001f"; the likeliest first
};

// Addresses that would make the name longer than MPI_MAX_PORT_NAME are left out.
std::string Write(const PortName& name);
// kInvalid: the text is no such name, or is damaged.
Result<PortName> ReadPortName(std::string_view text);

}  // namespace lamina::dynamic
