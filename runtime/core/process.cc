// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/process.h"

#include <utility>

#include "runtime/base/call_names.h"
#include "runtime/base/event_ring.h"
#include "runtime/trace/profile.h"
#include "runtime/waiting/waiting.h"

namespace lamina::core {

namespace {

// Before a thread sleeps for a lock it looks at it this often, which takes about as long as a few
// MPI calls.
constexpr int kLooksBeforeSleep = 100;
constexpr std::uint32_t kSleepMs = 1;

}  // namespace

void LibraryLock::LockAmongOthers() {
  contenders_.fetch_add(1, std::memory_order_relaxed);
  for (int looks = 0; taken_.load(std::memory_order_relaxed) != 0 || !Take(); ++looks) {
    if (looks < kLooksBeforeSleep) {
      waiting::Pause();
      continue;
    }
    sleeping_.store(1);
    if (taken_.load() == 0) continue;
    waiting::SleepOn(sleeping_, 1, kSleepMs);
  }
  // The word told of one sleeper and may be lowered by now; others may still sleep.
  if (contenders_.fetch_sub(1, std::memory_order_relaxed) > 1)
    sleeping_.store(1, std::memory_order_relaxed);
}

void LibraryLock::WakeOne() {
  sleeping_.store(0, std::memory_order_relaxed);
  waiting::WakeFrom(sleeping_, 1);
  if (IsClaimed()) AwaitUnclaim();
}

int LibraryLock::ReleaseToNap() {
  const int depth = std::exchange(depth_, 0);
  if (depth == 0) return 0;
  holder_.store(pthread_t{}, std::memory_order_relaxed);
  taken_.store(0, std::memory_order_release);
  if (sleeping_.exchange(0, std::memory_order_relaxed) != 0) waiting::WakeFrom(sleeping_, 1);
  return depth;
}

// The claimer counts as one that waits, so that threads which look after Wanted() let it in.
void LibraryLock::Claim() {
  contenders_.fetch_add(1, std::memory_order_relaxed);
  claimed_.store(1);
}

// The word says that somebody sleeps before each look, so a thread that gives the lock up at that
// moment comes by WakeOne() and waits there.
void LibraryLock::LockClaimed() {
  for (;;) {
    sleeping_.store(1);
    if (Take()) break;
    waiting::SleepOn(sleeping_, 1, kSleepMs);
  }
  holder_.store(pthread_self(), std::memory_order_relaxed);
  ++depth_;
}

void LibraryLock::UnlockClaimed() {
  --depth_;
  holder_.store(pthread_t{}, std::memory_order_relaxed);
  taken_.store(0);
  sleeping_.store(0);
  waiting::WakeFrom(sleeping_);
}

void LibraryLock::Unclaim() {
  claimed_.store(0);
  waiting::WakeFrom(claimed_);
  // The word told of one sleeper, as in LockAmongOthers; others may still sleep.
  if (contenders_.fetch_sub(1, std::memory_order_relaxed) > 1)
    sleeping_.store(1, std::memory_order_relaxed);
}

void LibraryLock::AwaitUnclaim() const {
  while (IsClaimed()) waiting::SleepOn(claimed_, 1, kSleepMs);
}

constinit Process* process = nullptr;
constinit const Process* known_process = nullptr;
constinit std::atomic<Process*> shared_process{nullptr};
constinit Life life = Life::kBefore;

void Guard::Enter(Process* process) { process->lock.Lock(); }

void Guard::Leave(Process* process) {
  if (process->before_unlock != nullptr) process->before_unlock();
  process->lock.Unlock();
}

void CallGuard::Enter(Process* process, Call call, const void* place) {
  const std::uint64_t began_ns = trace::BeginCall();
  process->lock.Lock();
  if (began_ns != 0) trace::EnterCall(call, place, began_ns);
}

void CallGuard::Leave(Process* process) {
  if (process->before_unlock != nullptr) process->before_unlock();
  if (trace::profile != nullptr) trace::LeaveCall();
  process->lock.Unlock();
}

void NoteUnsaved() {
  ++process->unsaved_count;
  process->unsaved_call =
      NameOf(static_cast<Call>(CurrentEventRing()->call.load(std::memory_order_relaxed)));
}

void ForgetUnsaved() { --process->unsaved_count; }

}  // namespace lamina::core
