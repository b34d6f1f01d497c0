// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/trace/event.h"

#include <algorithm>
#include <cstddef>

#include "runtime/base/clock.h"

namespace lamina::trace {
namespace {

const Enumeration* ElementNames() {
  static const Enumeration* const names = [] {
    auto* made = new Enumeration{"p2p.message.elements", {}};
    for (const EventElement& element : EventElements())
      made->items.emplace_back(static_cast<int>(made->items.size()), element.name);
    return made;
  }();
  return names;
}

// A callback that runs inside the library must have at least this safety level: it may call no MPI
// but what the standard lists for it.
constexpr std::size_t kInside = 1;
static_assert(kSafeties[kInside] == MPI_T_CB_REQUIRE_MPI_RESTRICTED);

}  // namespace

std::span<const EventElement> EventElements() {
  static const EventElement elements[] = {
      {"peer", MPI_INT, offsetof(MessageData, peer), sizeof(MessageData::peer)},
      {"tag", MPI_INT, offsetof(MessageData, tag), sizeof(MessageData::tag)},
      {"bytes", MPI_COUNT, offsetof(MessageData, bytes), sizeof(MessageData::bytes)},
      {"context", MPI_COUNT, offsetof(MessageData, context), sizeof(MessageData::context)},
  };
  return elements;
}

EventDescription Describe(EventType type) {
  switch (type) {
    case EventType::kUnexpected:
      return {"p2p.message.unexpected",
              "A message has arrived before its receive was posted: its source and tag, its bytes, "
              "and the number of its communicator.",
              ElementNames()};
    case EventType::kRendezvousStarted:
      return {"p2p.message.rendezvous_started",
              "A long message was offered to its receiver: its destination and tag, its bytes, and "
              "the number of its communicator.",
              ElementNames()};
    case EventType::kCount:
      break;
  }
  return {};
}

void Update(Hints* hints, const Hints& changes) {
  for (const auto& [key, value] : changes) {
    const auto place =
        std::find_if(hints->begin(), hints->end(),
                     [&, &name = key](const auto& hint) { return hint.first == name; });
    if (place != hints->end())
      place->second = value;
    else
      hints->emplace_back(key, value);
  }
}

std::int64_t NowTicks() { return static_cast<std::int64_t>(MonotonicNs()); }

int SafetyIndex(MPI_T_cb_safety safety) {
  for (std::size_t i = 0; i < kSafeties.size(); ++i)
    if (kSafeties[i] == safety) return static_cast<int>(i);
  return -1;
}

EventRegistration* Events::MakeRegistration(EventType type, Hints hints) {
  const std::lock_guard guard(lock_);
  if (emit == nullptr) {
    emit = [](EventType happened, const MessageData& data) { TheEvents().Emit(happened, data); };
    deliver_waiting = [] { TheEvents().DeliverWaiting(); };
  }
  auto registration = std::make_unique<EventRegistration>();
  registration->type = type;
  registration->hints = std::move(hints);
  registrations_.push_back(std::move(registration));
  listeners[Index(type)].fetch_add(1, std::memory_order_relaxed);
  return registrations_.back().get();
}

EventRegistration* Events::Find(const EventRegistration* handle) const {
  for (const auto& registration : registrations_)
    if (registration.get() == handle) return registration->freed ? nullptr : registration.get();
  return nullptr;
}

bool Events::Free(const EventRegistration* handle, MPI_T_event_free_cb_function* function,
                  void* data) {
  std::unique_lock lock(lock_);
  EventRegistration* const registration = Find(handle);
  if (registration == nullptr) return false;
  listeners[Index(registration->type)].fetch_sub(1, std::memory_order_relaxed);
  registration->freed = true;
  registration->free_function = function;
  registration->free_data = data;
  std::erase_if(waiting_, [&](const Waiting& kept) { return kept.registration == registration; });
  waiting_events.store(static_cast<std::uint32_t>(waiting_.size()), std::memory_order_relaxed);
  if (registration->running == 0) Bury(lock, registration);
  return true;
}

// This is the last act on a registration, of which no callback runs any more.
void Events::Bury(std::unique_lock<std::mutex>& lock, EventRegistration* registration) {
  const auto place = std::find_if(registrations_.begin(), registrations_.end(),
                                  [&](const auto& one) { return one.get() == registration; });
  const std::unique_ptr<EventRegistration> dead = std::move(*place);
  registrations_.erase(place);
  if (dead->free_function == nullptr) return;
  lock.unlock();
  dead->free_function(reinterpret_cast<MPI_T_event_registration>(dead.get()), MPI_T_CB_REQUIRE_NONE,
                      dead->free_data);
  lock.lock();
}

void Events::FreeAll() {
  std::vector<EventRegistration*> all;
  {
    const std::lock_guard guard(lock_);
    for (const auto& registration : registrations_)
      if (!registration->freed) all.push_back(registration.get());
  }
  for (EventRegistration* registration : all) Free(registration, nullptr, nullptr);
}

// Chooses the least restricted callback that has at least the safety level `safety_min`.
bool Events::Choose(const EventRegistration& registration, std::size_t safety_min, Choice* choice) {
  for (std::size_t safety = safety_min; safety < kSafeties.size(); ++safety) {
    const EventCallback& callback = registration.callbacks[safety];
    if (callback.function == nullptr) continue;
    *choice = {safety, callback.function, callback.user_data};
    return true;
  }
  return false;
}

void Events::Keep(EventRegistration* registration, const EventInstance& instance) {
  if (waiting_.size() >= kWaitingMax) {
    ++registration->dropped;
    return;
  }
  waiting_.push_back({registration, instance});
  waiting_events.store(static_cast<std::uint32_t>(waiting_.size()), std::memory_order_relaxed);
}

void Events::Emit(EventType type, const MessageData& data) {
  const EventInstance instance{type, NowTicks(), data};
  std::unique_lock lock(lock_);
  // Callbacks may make and free registrations. Those that are there now are told, by position, and
  // a freed one leaves its place only when no callback runs.
  std::vector<EventRegistration*> told;
  for (const auto& registration : registrations_)
    if (registration->type == type && !registration->freed) {
      ++registration->running;
      told.push_back(registration.get());
    }
  for (EventRegistration* registration : told) {
    Choice choice;
    if (!registration->freed) {
      if (Choose(*registration, kInside, &choice))
        Run(lock, registration, instance, choice);
      else if (registration->callbacks[0].function != nullptr)
        Keep(registration, instance);
    }
    if (--registration->running == 0 && registration->freed) Bury(lock, registration);
  }
}

void Events::DeliverWaiting() {
  // A callback makes MPI calls of its own; the events that wait for the end of a call then wait
  // until the callback has returned.
  static thread_local bool delivering = false;
  if (delivering) return;
  delivering = true;
  std::unique_lock lock(lock_);
  while (!waiting_.empty()) {
    const Waiting kept = waiting_.front();
    waiting_.pop_front();
    waiting_events.store(static_cast<std::uint32_t>(waiting_.size()), std::memory_order_relaxed);
    ++kept.registration->running;
    Choice choice;
    if (Choose(*kept.registration, 0, &choice)) Run(lock, kept.registration, kept.instance, choice);
    if (--kept.registration->running == 0 && kept.registration->freed)
      Bury(lock, kept.registration);
  }
  delivering = false;
}

// The lock is released while the callback runs.
void Events::Run(std::unique_lock<std::mutex>& lock, EventRegistration* registration,
                 const EventInstance& instance, const Choice& choice) {
  const auto handle = reinterpret_cast<MPI_T_event_registration>(registration);
  const MPI_Count dropped = std::exchange(registration->dropped, 0);
  MPI_T_event_dropped_cb_function* const tell_dropped = registration->dropped_function;
  instances_.push_back(&instance);
  lock.unlock();
  if (dropped > 0 && tell_dropped != nullptr)
    tell_dropped(dropped, handle, 0, kSafeties[choice.safety], choice.user_data);
  choice.function(reinterpret_cast<MPI_T_event_instance>(const_cast<EventInstance*>(&instance)),
                  handle, kSafeties[choice.safety], choice.user_data);
  lock.lock();
  instances_.erase(std::find(instances_.begin(), instances_.end(), &instance));
}

Events& TheEvents() {
  static Events* const events = new Events;
  return *events;
}

}  // namespace lamina::trace
