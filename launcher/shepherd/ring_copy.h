// SPDX-License-Identifier: BSD-3-Clause
// Reads what a shepherd tells of a rank's event ring (runtime/base/event_ring.h) and RankTrace
// holds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lamina::launcher {

// Returns what stands before the events as it lies there, or "" if the ring cannot be read.
std::string RingHead(int ring);
// Returns the last `count` events as they lie there, oldest first.
std::vector<std::string> RingEvents(int ring, std::size_t count);

}  // namespace lamina::launcher
