// SPDX-License-Identifier: BSD-3-Clause
// The other rooms call these functions to be seen by tools: counters, levels and events (MPI-5.0,
// section 15.3).
//
//   trace::Count(trace::Counter::kEagerSent);             one add
//   trace::Raise(trace::Level::kPosted, 1);               one add
//   trace::MessageEvent(trace::EventType::kUnexpected, ...);  one load while nobody listens
//
// Threads:    The caller holds the library lock at MPI_THREAD_MULTIPLE. Below that level a tool may
//             read from a thread of its own; it sees whole words, each a little old.
// Allocation: Nothing is allocated while nobody listens.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/base/counters.h"

namespace lamina::trace {

extern Numbers numbers;

inline void Count(Counter counter, std::uint64_t times = 1) {
  numbers.counters[Index(counter)] += times;
}

inline void Raise(Level level, std::uint64_t by) { numbers.levels[Index(level)] += by; }
// Raises the level and keeps its high-water mark.
inline void RaiseMarked(Level level, std::uint64_t by) {
  const std::uint64_t now = numbers.levels[Index(level)] += by;
  if (now > numbers.marks[Index(level)]) numbers.marks[Index(level)] = now;
}
inline void Lower(Level level, std::uint64_t by) { numbers.levels[Index(level)] -= by; }

// Tools can be told of these events as they happen.
enum class EventType : std::uint32_t { kUnexpected, kRendezvousStarted, kCount };
constexpr std::size_t Index(EventType type) { return static_cast<std::size_t>(type); }

// Every event so far has this data; the names of its elements are in event.cc.
struct MessageData {
  int peer;  // rank in the communicator: the source of what arrives, the destination of what leaves
  int tag;
  std::int64_t bytes;
  std::int64_t context;  // a number that differs between communicators
};

// This counts the registrations that want an event.
extern std::atomic<std::uint32_t> listeners[Index(EventType::kCount)];
// This counts the events kept for callbacks that may only run when the MPI call has ended.
extern std::atomic<std::uint32_t> waiting_events;
// event.cc sets this when the first listener comes.
extern void (*emit)(EventType type, const MessageData& data);
extern void (*deliver_waiting)();

inline void MessageEvent(EventType type, const MessageData& data) {
  if (listeners[Index(type)].load(std::memory_order_relaxed) != 0) [[unlikely]]
    emit(type, data);
}

// A member of this type, destroyed when an MPI call holds no lock any more and the library is at
// rest, runs the callbacks that need that.
struct AfterCall {
  [[gnu::always_inline]] ~AfterCall() {
    if (waiting_events.load(std::memory_order_relaxed) != 0) [[unlikely]]
      deliver_waiting();
  }
};

}  // namespace lamina::trace
