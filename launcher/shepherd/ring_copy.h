// SPDX-License-Identifier: BSD-3-Clause
// A rank's event ring (runtime/base/event_ring.h) taken along: what its shepherd has of it, put
// into the launcher's copy, so that the launcher reads a remote rank's ring like any other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lamina::launcher {

// Magic, call, inside and phase as they lie there; "" when it cannot be read.
std::string RingHead(int ring);
// The last `count` events as they lie there, oldest first.
std::vector<std::string> RingEvents(int ring, std::size_t count);
// Makes `ring` say the same. Anything of a wrong size is left out.
void RestoreRing(int ring, const std::string& head, const std::vector<std::string>& events);

}  // namespace lamina::launcher
