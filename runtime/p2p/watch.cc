// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/watch.h"

#include <atomic>
#include <utility>

#include "runtime/base/sharing.h"
#include "runtime/core/process.h"
#include "runtime/p2p/note_word.h"
#include "runtime/p2p/sleeping.h"
#include "runtime/p2p/tuning.h"
#include "runtime/trace/profile.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {
namespace {

template <class Yield>
void GiveWay(const Yield& yield) {
  trace::Count(trace::Counter::kYields);
  const core::Unlocked unlocked;
  yield();
}

}  // namespace

// A thread that sleeps. It lies on that thread's stack.
struct Watch::Sleeper {
  bool (*done)(void*);
  void* argument;
  bool is_done = false;  // `done` has answered true and is not asked again
  std::atomic<std::uint32_t> word{0};
  Sleeper* previous = nullptr;
  Sleeper* next = nullptr;
};

// A thread that polls may keep from the CPU the one that has something to send. So it is noticed
// whether threads take turns here.
void Watch::NoteThread() {
  const pthread_t before = std::exchange(last_waiter_, pthread_self());
  if (before != last_waiter_ && before != pthread_t{})
    others_wait_ = kWaitsAlone;
  else if (others_wait_ != 0)
    --others_wait_;
}

void Watch::WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max) {
  ++watchers_;
  NoteThread();
  waiting::Waiter waiter(policy_);
  trace::Waiting counted;
  std::uint32_t idle_polls = 0;
  std::uint64_t noted_ms = 0;
  bool is_done = false;
  while (!is_done && !done(argument)) {
    if (duty_.Progress(events_max)) {
      waiter.Busy();
      counted.Busy();
      idle_polls = 0;
      if (core::process->lock.Wanted()) GiveWay(waiting::Yield);
      continue;
    }
    if (core::process->lock.IsClaimed()) [[unlikely]] {
      GiveWay([] { core::process->lock.AwaitUnclaim(); });
      continue;
    }
    ++idle_polls;
    counted.Idle();
    const waiting::Waiter::Advice advice = waiter.Idle();
    const bool beside = watchers_ > 1 && idle_polls > kPollsAmongOthers + kYieldsBesideWatch;
    if (advice == waiting::Waiter::Advice::kSleep || beside)
      is_done = Sleep(done, argument, &noted_ms);
    else if (core::process->lock.Wanted() || (others_wait_ != 0 && idle_polls > kPollsAmongOthers))
      GiveWay(waiting::Yield);
    else if (advice == waiting::Waiter::Advice::kYield)
      GiveWay([&] { waiter.Yield(); });
    else
      waiting::Pause();
  }
  if (noted_ms != 0) ClearNote();
  if (--watchers_ == 0 && sleepers_ != nullptr) WakeHeir();
}

void Watch::TestedInVain() {
  const bool shares_cpu = policy_.sharing == Sharing::kShared || waiting::Waiter::SharesCpu();
  if (++vain_tests_ % kVainTestsPerNote == 0) [[unlikely]]
    duty_.NoteTests();
  if (core::process->lock.Wanted()) [[unlikely]]
    GiveWay(waiting::Yield);
  else if (shares_cpu && vain_tests_ % kVainTestsPerYield == 0)
    waiting::Waiter(policy_).Yield();
}

// True: the condition held when another thread asked. False: the caller has to look again.
bool Watch::Sleep(bool (*done)(void*), void* argument, std::uint64_t* since_ms) {
  // Another thread may have written its own note meanwhile.
  if (*since_ms == 0) *since_ms = NoteClockMs();
  duty_.NoteWait(done, argument, *since_ms);
  const bool keeps_watch = watchers_ == 1;
  Sleeper self{.done = done, .argument = argument};
  self.next = sleepers_;
  if (sleepers_ != nullptr) sleepers_->previous = &self;
  sleepers_ = &self;
  core::process->before_unlock = before_unlock_;
  const std::uint32_t sleep_ms = duty_.SleepMsMax();
  if (keeps_watch && !duty_.Ringing().empty()) {
    if (const waiting::Nap nap(duty_.Ringing()); nap.armed()) {
      on_bells_ = &self;
      const Sleeping sleeping;
      const core::Unlocked unlocked{core::Unlocked::ToNap()};
      nap.Sleep(sleep_ms);
    }
    on_bells_ = nullptr;
    naps_.fetch_add(1, std::memory_order_release);
  } else {
    --watchers_;
    {
      const Sleeping sleeping;
      const core::Unlocked unlocked;
      waiting::SleepOn(self.word, 0, sleep_ms);
    }
    ++watchers_;
  }
  (self.previous != nullptr ? self.previous->next : sleepers_) = self.next;
  if (self.next != nullptr) self.next->previous = self.previous;
  if (sleepers_ == nullptr) core::process->before_unlock = nullptr;
  return self.is_done;
}

void Watch::Wake(Sleeper* sleeper) {
  if (sleeper == on_bells_) {
    duty_.Ringing().front()->Wake();
    return;
  }
  sleeper->word.store(1, std::memory_order_relaxed);
  waiting::WakeFrom(sleeper->word);
}

void Watch::WakeThoseDone() {
  if (duty_.IsDue()) duty_.Progress();
  if (!disturbed_) return;
  disturbed_ = false;
  for (Sleeper* sleeper = sleepers_; sleeper != nullptr; sleeper = sleeper->next) {
    if (sleeper->is_done || !sleeper->done(sleeper->argument)) continue;
    sleeper->is_done = true;
    Wake(sleeper);
  }
}

// Somebody has to keep watch.
void Watch::WakeHeir() {
  for (Sleeper* sleeper = sleepers_; sleeper != nullptr; sleeper = sleeper->next)
    if (!sleeper->is_done) return Wake(sleeper);
}

}  // namespace lamina::p2p
