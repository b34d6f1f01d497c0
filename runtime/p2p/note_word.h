// SPDX-License-Identifier: BSD-3-Clause
// The clock of wait notes (runtime/base/wait_note.h), and the end of a note.
#pragma once

#include <time.h>

#include <cstdint>

#include "runtime/base/event_ring.h"

namespace lamina::p2p {

inline std::uint64_t NoteClockMs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// Nothing is waited for any more.
inline void ClearNote() {
  CurrentEventRing()->wait.state.store(WaitNote::kNone, std::memory_order_relaxed);
}

}  // namespace lamina::p2p
