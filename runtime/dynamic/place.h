// SPDX-License-Identifier: BSD-3-Clause
// Numbers by which processes of different jobs find out whether they are near each other.
#pragma once

#include <cstdint>

namespace lamina::dynamic {

// Equal on one machine, between two starts of it: eight digits of its boot id.
std::uint32_t BootNumber();
// Equal for processes that can share memory: they are on one machine and in one pid namespace.
std::uint64_t PlaceNumber();

}  // namespace lamina::dynamic
