// SPDX-License-Identifier: BSD-3-Clause
// Waits for descriptors while messages go on, and lets other threads into the library meanwhile.
#pragma once

#include <poll.h>

#include <cstdint>
#include <span>

namespace lamina::dynamic {

inline constexpr std::uint64_t kForEver = UINT64_MAX;

// Returns the moment `timeout_ms` from now; 0: never.
std::uint64_t MomentIn(std::uint64_t timeout_ms);
// Turns the engine until one of the descriptors is ready. False: that moment has come.
bool AwaitReady(std::span<pollfd> descriptors, std::uint64_t until_ms);

}  // namespace lamina::dynamic
