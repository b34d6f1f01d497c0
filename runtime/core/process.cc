// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/process.h"

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

}  // namespace lamina::core
