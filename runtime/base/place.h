// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which processes of different jobs find out whether they are near each other.
#pragma once

#include <cstdint>

namespace lamina {

// Equal for processes whose loopback network is the same: they are on one machine and in one
// network namespace of it.
std::uint32_t LoopbackNumber();
// Equal for processes that can share memory: they are on one machine and in one pid namespace.
std::uint64_t PlaceNumber();

}  // namespace lamina
