// SPDX-License-Identifier: BSD-3-Clause
// The event ring keeps the last events of a process in memory that outlives it.
//
// The launcher makes one ring per rank (an anonymous file it keeps open) and passes its descriptor,
// which the rank maps. After a death, however sudden, mpiexec can therefore say what the rank did
// last, and the rank needs no signal handler. A process without a launcher uses private memory.
//
// Threads: Any thread may write: a writer claims a slot with one atomic add and never waits. After
//          a crash a reader may see a slot half written, but its text is always terminated.
// Layout:  The layout is pinned by event_ring_test.cc, because two processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/wait_note.h"

namespace lamina {

struct Event {
  std::uint64_t time_ns;  // CLOCK_MONOTONIC
  char text[112];         // terminated
  std::uint64_t unused;
};
static_assert(sizeof(Event) == 128);

// A lock of a window (runtime/rma) for which somebody waits. Others read it while it changes, so it
// is for people to see and decides nothing. Ranks are those in the job.
struct LockNote {
  enum Kind : std::uint32_t { kNone, kShared, kExclusive, kAll };

  std::atomic<std::uint32_t> kind;     // the lock that is waited for
  std::atomic<std::uint32_t> target;   // whose lock it is
  std::atomic<std::uint64_t> window;   // the same number at all members of the window
  std::atomic<std::uint32_t> holder;   // who holds an exclusive lock, plus 1; 0: that is not known
  std::atomic<std::uint32_t> sharers;  // how many share the lock
};

struct EventRing {
  static constexpr std::uint32_t kEvents = 1024;
  static constexpr std::uint32_t kMagic = 0x4c414d31;  // "LAM1"

  std::uint32_t magic;
  // This is the number (call_names.h) of the MPI function the process is in or was in last; 0 means
  // that there was none yet.
  std::atomic<std::uint32_t> call;
  std::atomic<std::uint32_t> inside;  // 1: within that call
  // The phase lets the launcher tell a rank that left early from one that finalized.
  std::atomic<std::uint32_t> phase;
  LockNote waits;   // for this lock the process waits
  LockNote queued;  // for this lock of its own it keeps processes of other nodes waiting
  alignas(64) std::atomic<std::uint64_t> next;
  // The address in the process of what it counts (counters.h); 0: it has not come to MPI.
  std::atomic<std::uint64_t> counters;
  alignas(64) Event events[kEvents];
  WaitNote wait;
};

enum class Phase : std::uint32_t { kStarted = 0, kInitialized = 1, kFinalized = 2 };

// Makes the ring behind descriptor `fd` the ring of this process and closes `fd`. If `fd` is not an
// anonymous file of kEventRingBytes, or longer by a profile table (profile_table.h), it is left
// open, because it may by now be a file of the program, as in a child of a rank; the private ring
// then stays in use.
void AdoptEventRing(int fd);
// Has the ring behind descriptor `fd`, which is closed, take the place and the address of the
// current one, and copies what that has noted. It is done where the process has come to another
// launcher, which says by this variable where its ring is.
void MoveEventRing(int fd);
inline constexpr char kMovedEventRingVariable[] = "LAMINA_EVENT_RING";
// This is never null: before AdoptEventRing it points to a small static ring.
extern std::atomic<EventRing*> current_event_ring;
inline EventRing* CurrentEventRing() { return current_event_ring.load(std::memory_order_acquire); }
inline constexpr std::size_t kEventRingBytes = sizeof(EventRing);
// So many bytes at the beginning say what the process does now.
inline constexpr std::size_t kEventRingHeadBytes = offsetof(EventRing, next);

[[gnu::format(printf, 1, 2)]] void RecordEvent(const char* format, ...);

// Returns the last `count` events of `ring`, oldest first.
std::vector<std::string> LastEvents(const EventRing& ring, std::size_t count);

}  // namespace lamina
