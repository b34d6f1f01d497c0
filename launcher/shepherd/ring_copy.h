// SPDX-License-Identifier: BSD-3-Clause
// What a shepherd tells of a rank's event ring (runtime/base/event_ring.h): see RankTrace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lamina::launcher {

// Magic, call, inside and phase as they lie there; "" when it cannot be read.
std::string RingHead(int ring);
// The last `count` events as they lie there, oldest first.
std::vector<std::string> RingEvents(int ring, std::size_t count);

}  // namespace lamina::launcher
