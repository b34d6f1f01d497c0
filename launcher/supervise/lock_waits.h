// SPDX-License-Identifier: BSD-3-Clause
// Finds out who waits for a lock of a window, and who holds it, from what ranks note in their event
// rings (runtime/base/event_ring.h). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/event_ring.h"

namespace lamina::launcher {

// A LockNote as it was read.
struct LockSeen {
  LockNote::Kind kind = LockNote::kNone;
  std::uint32_t target = 0;
  std::uint64_t window = 0;
  std::uint32_t holder = 0;
  std::uint32_t sharers = 0;
};
static_assert(sizeof(LockSeen) == sizeof(LockNote));

struct LocksSeen {
  LockSeen waits;
  LockSeen queued;
};

struct LockWait {
  std::uint32_t rank = 0;  // who waits
  LockSeen lock;
};

// `seen` is by rank. A process that waits for a lock on another node does not know the holder, but
// the target's process does.
std::vector<LockWait> LockWaits(std::span<const LocksSeen> seen);

// The lines of launcher/control/README.md.
std::string Describe(std::span<const LockWait> waits);

}  // namespace lamina::launcher
