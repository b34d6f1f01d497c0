// SPDX-License-Identifier: BSD-3-Clause
// How a thread waits within the engine.
//
// Below MPI_THREAD_MULTIPLE there is one: it polls, yields and sleeps on the bells of the
// transports.
//
// Among several threads one keeps watch: it polls, and sleeps on the bells if nothing comes. The
// others sleep each on a word of their own. Whoever leaves the library, or gives it up to sleep,
// looks first whether something happened, and wakes exactly those whose condition holds now. A
// thread that stops keeping watch wakes an heir. So a thread is not woken for another's message,
// and none is forgotten.
#include <pthread.h>

#include <chrono>
#include <utility>

#include "runtime/core/process.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {
namespace {

// What waits to be sent can only go when the peer makes room, which rings no bell.
constexpr std::uint32_t kBlockedSleepMs = 1;
// Polls of a thread before it lets others run, where there are others.
constexpr std::uint32_t kPollsAmongOthers = 10;
// How often it lets them, while another keeps watch, before it sleeps: a switch costs less than a
// sleep and a wake.
constexpr std::uint32_t kYieldsBesideWatch = 10;
// Waits of one thread after which the others are taken to have gone.
constexpr std::uint32_t kWaitsAlone = 1000;

// Counts a sleep. Under the library lock at both ends.
class Sleeping {
 public:
  Sleeping() : began_(std::chrono::steady_clock::now()) {}
  ~Sleeping() {
    const std::chrono::nanoseconds slept = std::chrono::steady_clock::now() - began_;
    trace::Count(trace::Counter::kSleeps);
    trace::Count(trace::Counter::kSleptNs, static_cast<std::uint64_t>(slept.count()));
  }
  Sleeping(const Sleeping&) = delete;
  Sleeping& operator=(const Sleeping&) = delete;

 private:
  const std::chrono::steady_clock::time_point began_;
};

// Lets other threads into the library while this one gives the CPU up.
class Unlocked {
 public:
  Unlocked() {
    if (core::process->before_unlock != nullptr) core::process->before_unlock();
    depth_ = core::process->lock.ReleaseAll();
  }
  ~Unlocked() { core::process->lock.RegainAll(depth_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  int depth_;
};

template <class Yield>
void GiveWay(const Yield& yield) {
  trace::Count(trace::Counter::kYields);
  Unlocked unlocked;
  yield();
}

}  // namespace

// A thread that sleeps, on that thread's stack.
struct Engine::Sleeper {
  bool (*done)(void*);
  void* argument;
  bool is_done = false;  // `done` has answered true and is not asked again
  std::atomic<std::uint32_t> word{0};
  Sleeper* previous = nullptr;
  Sleeper* next = nullptr;
};

std::uint32_t Engine::SleepLimit() const {
  return waiting_lanes_.empty() && pushing_.empty() ? policy_.sleep_ms : kBlockedSleepMs;
}

void Engine::WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max) {
  trace::Count(trace::Counter::kWaits);
  if (core::process->thread_level == MPI_THREAD_MULTIPLE) [[unlikely]]
    return WaitAmongThreads(done, argument);
  waiting::Waiter waiter(policy_);
  while (!done(argument)) {
    if (Progress(events_max)) {
      waiter.Busy();
      continue;
    }
    switch (waiter.Idle()) {
      case waiting::Waiter::Advice::kPoll:
        waiting::Pause();
        break;
      case waiting::Waiter::Advice::kYield:
        trace::Count(trace::Counter::kYields);
        waiter.Yield();
        break;
      case waiting::Waiter::Advice::kSleep:
        if (const waiting::Nap nap(ringing_); nap.armed()) {
          const Sleeping sleeping;
          nap.Sleep(SleepLimit());
        }
        break;
    }
  }
}

void Engine::WaitAmongThreads(bool (*done)(void*), void* argument) {
  ++watchers_;
  // A thread that polls may keep from the CPU the one that has something to send.
  const pthread_t before = std::exchange(last_waiter_, pthread_self());
  if (before != last_waiter_ && before != pthread_t{})
    others_wait_ = kWaitsAlone;
  else if (others_wait_ != 0)
    --others_wait_;
  waiting::Waiter waiter(policy_);
  std::uint32_t idle_polls = 0;
  bool is_done = false;
  while (!is_done && !done(argument)) {
    if (Progress()) {
      waiter.Busy();
      idle_polls = 0;
      if (core::process->lock.Wanted()) GiveWay(waiting::Yield);
      continue;
    }
    ++idle_polls;
    const waiting::Waiter::Advice advice = waiter.Idle();
    const bool beside = watchers_ > 1 && idle_polls > kPollsAmongOthers + kYieldsBesideWatch;
    if (advice == waiting::Waiter::Advice::kSleep || beside)
      is_done = SleepAmongThreads(done, argument);
    else if (core::process->lock.Wanted() || (others_wait_ != 0 && idle_polls > kPollsAmongOthers))
      GiveWay(waiting::Yield);
    else if (advice == waiting::Waiter::Advice::kYield)
      GiveWay([&] { waiter.Yield(); });
    else
      waiting::Pause();
  }
  if (--watchers_ == 0 && sleepers_ != nullptr) WakeHeir();
}

void Engine::TestedInVain() {
  const bool shares_cpu = policy_.spin_polls == 0 || waiting::Waiter::SharesCpu();
  if (core::process->lock.Wanted()) [[unlikely]]
    GiveWay(waiting::Yield);
  else if (shares_cpu && ++vain_tests_ % kVainTestsPerYield == 0)
    waiting::Waiter(policy_).Yield();
}

// True: the condition held and was not forgotten; false: look again.
bool Engine::SleepAmongThreads(bool (*done)(void*), void* argument) {
  const bool keeps_watch = watchers_ == 1;
  Sleeper self{.done = done, .argument = argument};
  self.next = sleepers_;
  if (sleepers_ != nullptr) sleepers_->previous = &self;
  sleepers_ = &self;
  core::process->before_unlock = [] { TheEngine().WakeThoseDone(); };
  const std::uint32_t sleep_ms = SleepLimit();
  if (keeps_watch && !ringing_.empty()) {
    if (const waiting::Nap nap(ringing_); nap.armed()) {
      watch_ = &self;
      const Sleeping sleeping;
      Unlocked unlocked;
      nap.Sleep(sleep_ms);
    }
    watch_ = nullptr;
  } else {
    --watchers_;
    {
      const Sleeping sleeping;
      Unlocked unlocked;
      waiting::SleepOn(self.word, 0, sleep_ms);
    }
    ++watchers_;
  }
  (self.previous != nullptr ? self.previous->next : sleepers_) = self.next;
  if (self.next != nullptr) self.next->previous = self.previous;
  if (sleepers_ == nullptr) core::process->before_unlock = nullptr;
  return self.is_done;
}

void Engine::Wake(Sleeper* sleeper) {
  if (sleeper == watch_) {
    ringing_.front()->Wake();
    return;
  }
  sleeper->word.store(1, std::memory_order_relaxed);
  waiting::WakeFrom(sleeper->word);
}

void Engine::WakeThoseDone() {
  // What this process sent to itself rings no bell, and neither does an activity.
  if (core::first_notified != nullptr || (loopback_ != nullptr && !loopback_->Drained()))
    Progress();
  if (!disturbed_) return;
  disturbed_ = false;
  for (Sleeper* sleeper = sleepers_; sleeper != nullptr; sleeper = sleeper->next) {
    if (sleeper->is_done || !sleeper->done(sleeper->argument)) continue;
    sleeper->is_done = true;
    Wake(sleeper);
  }
}

// Somebody has to keep watch.
void Engine::WakeHeir() {
  for (Sleeper* sleeper = sleepers_; sleeper != nullptr; sleeper = sleeper->next)
    if (!sleeper->is_done) return Wake(sleeper);
}

void Disturb() { TheEngine().Disturb(); }

}  // namespace lamina::p2p
