// SPDX-License-Identifier: BSD-3-Clause
// Tools are told of events as they happen (MPI-5.0, section 15.3.8).
//
//   p2p ─ MessageEvent ─> Emit ─┬─> a callback that may run inside the library, at once
//                               └─> kept for one that may not, and run when the MPI call has ended
//
// An event that finds no room among the kept ones is dropped and counted; the handler for that is
// told before the next event.
//
// Ownership:  `Events` owns registrations from MakeRegistration until Free.
// Threads:    The lock here is never held while a callback runs; a caller that holds the library
// lock
//             has taken that one before.
// Allocation: Nothing is allocated while nobody listens.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/trace/enumeration.h"
#include "runtime/trace/trace.h"

namespace lamina::trace {

using Hints = std::vector<std::pair<std::string, std::string>>;  // of an MPI_Info
// Adds the `changes`; each replaces what had the same key.
void Update(Hints* hints, const Hints& changes);

struct EventElement {
  const char* name;
  MPI_Datatype datatype;
  MPI_Aint displacement;  // in MessageData
  std::size_t bytes;
};

struct EventDescription {
  const char* name;
  const char* description;
  const Enumeration* elements_names;
};
std::span<const EventElement> EventElements();  // the same for all
EventDescription Describe(EventType type);

// This is the clock of all events.
inline constexpr std::int64_t kTicksPerSecond = 1'000'000'000;
std::int64_t NowTicks();

// A callback is given this, which is valid while the callback runs.
struct EventInstance {
  EventType type;
  std::int64_t time;
  MessageData data;
};

// Safety levels go from the least to the most restricted.
inline constexpr std::array<MPI_T_cb_safety, 4> kSafeties = {
    MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
// Returns the position in kSafeties, or -1 if it is no safety level.
int SafetyIndex(MPI_T_cb_safety safety);

struct EventCallback {
  MPI_T_event_cb_function* function = nullptr;
  void* user_data = nullptr;
  Hints hints;
};

struct EventRegistration {
  EventType type;
  Hints hints;
  std::array<EventCallback, kSafeties.size()> callbacks;  // by SafetyIndex
  MPI_T_event_dropped_cb_function* dropped_function = nullptr;
  MPI_Count dropped = 0;
  std::uint32_t running = 0;  // callbacks
  bool freed = false;
  MPI_T_event_free_cb_function* free_function = nullptr;
  void* free_data = nullptr;
};

class Events {
 public:
  EventRegistration* MakeRegistration(EventType type, Hints hints);
  // No callback begins after this; `function`, if any, is called when none runs any more. Returns
  // false if the handle is none.
  bool Free(const EventRegistration* handle, MPI_T_event_free_cb_function* function, void* data);
  void FreeAll();

  // Calls `change(registration)` under the lock. Returns false if the handle is none.
  template <class Change>
  bool With(const EventRegistration* handle, const Change& change) {
    const std::lock_guard guard(lock_);
    EventRegistration* registration = Find(handle);
    if (registration != nullptr) change(*registration);
    return registration != nullptr;
  }
  // Calls `look(instance)` if a callback is being given that instance.
  template <class Look>
  bool WithInstance(const EventInstance* handle, const Look& look) {
    const std::lock_guard guard(lock_);
    for (const EventInstance* instance : instances_)
      if (instance == handle) return look(*instance), true;
    return false;
  }

  void Emit(EventType type, const MessageData& data);
  void DeliverWaiting();

 private:
  struct Waiting {
    EventRegistration* registration;
    EventInstance instance;
  };
  // This is the callback chosen for an event.
  struct Choice {
    std::size_t safety;
    MPI_T_event_cb_function* function;
    void* user_data;
  };
  static bool Choose(const EventRegistration& registration, std::size_t safety_min, Choice* choice);
  EventRegistration* Find(const EventRegistration* handle) const;
  void Keep(EventRegistration* registration, const EventInstance& instance);
  void Run(std::unique_lock<std::mutex>& lock, EventRegistration* registration,
           const EventInstance& instance, const Choice& choice);
  void Bury(std::unique_lock<std::mutex>& lock, EventRegistration* registration);

  static constexpr std::size_t kWaitingMax = 256;
  std::mutex lock_;
  std::vector<std::unique_ptr<EventRegistration>> registrations_;
  std::vector<const EventInstance*> instances_;  // that callbacks have in hand
  std::deque<Waiting> waiting_;
};

// Returns the events of this process; they are made at the first call and never deleted, because
// the library may still emit.
Events& TheEvents();

}  // namespace lamina::trace
