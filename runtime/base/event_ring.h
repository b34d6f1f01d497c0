// SPDX-License-Identifier: BSD-3-Clause
// The last events of a process, in memory that outlives it.
//
// The launcher makes one ring per rank (an anonymous file it keeps open) and passes its descriptor;
// the rank maps it. So after a death, however sudden, mpiexec can say what the rank did last, and
// no signal handler is needed in the rank. A process without a launcher uses private memory.
//
// Threads: any; writers claim a slot with one atomic add and never wait. A reader may see a slot
//          half written after a crash; text is always terminated.
// Layout:  pinned by event_ring_test.cc, because two processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lamina {

struct Event {
  std::uint64_t time_ns;  // CLOCK_MONOTONIC
  char text[112];         // terminated
  std::uint64_t unused;
};
static_assert(sizeof(Event) == 128);

struct EventRing {
  static constexpr std::uint32_t kEvents = 1024;
  static constexpr std::uint32_t kMagic = 0x4c414d31;  // "LAM1"

  std::uint32_t magic;
  // The MPI function the process is in, or was in last: a number of call_names.h; 0: none yet.
  std::atomic<std::uint32_t> call;
  std::atomic<std::uint32_t> inside;  // 1: within that call
  // kInitialized.. so that the launcher can tell a rank that left early from one that finalized.
  std::atomic<std::uint32_t> phase;
  alignas(64) std::atomic<std::uint64_t> next;
  alignas(64) Event events[kEvents];
};

enum class Phase : std::uint32_t { kStarted = 0, kInitialized = 1, kFinalized = 2 };

// The ring of this process: maps descriptor `fd`, closed afterwards. The private ring stays when
// that cannot be mapped, and when it is no ring, which is an anonymous file of kEventRingBytes.
// Then it is left alone: a file of the program may have the number by now, as in a child of a rank.
void AdoptEventRing(int fd);
// Never null: a small static ring before AdoptEventRing.
extern std::atomic<EventRing*> current_event_ring;
inline EventRing* CurrentEventRing() { return current_event_ring.load(std::memory_order_acquire); }
inline constexpr std::size_t kEventRingBytes = sizeof(EventRing);

[[gnu::format(printf, 1, 2)]] void RecordEvent(const char* format, ...);

// The last `count` events of `ring`, oldest first.
std::vector<std::string> LastEvents(const EventRing& ring, std::size_t count);

}  // namespace lamina
