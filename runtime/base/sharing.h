// SPDX-License-Identifier: BSD-3-Clause
// Does every rank of this node have a CPU of its own, or do ranks share CPUs?
//
// A rank that waits may keep its CPU busy in the first case and must give it up at once in the
// second. `runtime/waiting` answers the question once a process, and whoever needs the answer is
// handed it. The launcher answers it for the ranks that it places.
#pragma once

#include <cstdint>

namespace lamina {

enum class Sharing : std::uint8_t { kExclusive, kShared };

}  // namespace lamina
