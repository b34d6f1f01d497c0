// SPDX-License-Identifier: BSD-3-Clause
// Everything this process has while MPI is initialised. The MPI functions carry no context
// argument, so there is one pointer to it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "runtime/base/call_names.h"
#include "runtime/base/environment.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/ids.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/param.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/comm.h"

namespace lamina::p2p {
class Engine;
}

namespace lamina::core {

// This lock lets one thread in at a time. It is recursive, because callbacks of the application may
// call MPI. A thread that sleeps gives it up wholly, however often it holds it.
//
// Releasing is a plain store, because an atomic operation would wait for all stores before it,
// among them those of a message just sent. The store may miss a thread that is about to sleep at
// that moment, so nobody sleeps for longer than a millisecond.
class LibraryLock {
 public:
  void Lock() {
    const pthread_t self = pthread_self();
    if (holder_.load(std::memory_order_relaxed) != self) {
      if (!Take()) [[unlikely]]
        LockAmongOthers();
      holder_.store(self, std::memory_order_relaxed);
    }
    ++depth_;
  }
  void Unlock() {
    if (--depth_ == 0) Release();
  }
  // True if another thread waits for the lock.
  bool Wanted() const { return contenders_.load(std::memory_order_relaxed) != 0; }

  // One thread at a time may claim the lock before all others. From Claim() to Unclaim() whoever
  // gives the lock up lets the claimer have it first, and threads that wait for something in the
  // library go to AwaitUnclaim() without the lock. The claimer itself uses LockClaimed() and
  // UnlockClaimed() meanwhile.
  void Claim();
  void LockClaimed();
  void UnlockClaimed();
  void Unclaim();
  bool IsClaimed() const { return claimed_.load(std::memory_order_relaxed) != 0; }
  void AwaitUnclaim() const;

  // The caller hands the result to RegainAll.
  int ReleaseAll() {
    const int depth = std::exchange(depth_, 0);
    if (depth != 0) Release();
    return depth;
  }
  // The same for a thread whose nap the claimer ends, so that neither may wait for the other.
  int ReleaseToNap();
  void RegainAll(int depth) {
    if (depth == 0) return;  // below MPI_THREAD_MULTIPLE nobody takes it
    Lock();
    depth_ = depth;
  }

 private:
  bool Take() { return taken_.exchange(1, std::memory_order_acquire) == 0; }
  void Release() {
    holder_.store(pthread_t{}, std::memory_order_relaxed);
    taken_.store(0, std::memory_order_release);
    if (sleeping_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      WakeOne();
  }
  void LockAmongOthers();
  void WakeOne();

  std::atomic<std::uint32_t> taken_{0};     // guards depth_
  std::atomic<std::uint32_t> sleeping_{0};  // somebody sleeps on this word and is to be woken
  std::atomic<std::uint32_t> claimed_{0};
  std::atomic<pthread_t> holder_{};
  std::atomic<int> contenders_{0};
  int depth_ = 0;
};

struct Process {
  param::Settings settings;
  Environment environment;
  bootstrap::Identity identity;                     // who am I, how many are we, where
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;  // null in a singleton
  std::unique_ptr<NodeMemory> node_memory;          // null where the launcher made none
  p2p::Engine* engine = nullptr;                    // owned by runtime/assembly
  PeerId self{};

  int thread_level = MPI_THREAD_SINGLE;
  bool check_arguments = true;  // parameter api.check_arguments
  LibraryLock lock;             // taken at MPI_THREAD_MULTIPLE only: see Guard
  // This is what a thread does, before it leaves the library, for threads that sleep; it is null
  // while none sleeps.
  void (*before_unlock)() = nullptr;

  // What the program holds that a checkpoint cannot save yet, such as windows: how many, and the
  // function that made the last of them.
  std::uint32_t unsaved_count = 0;
  const char* unsaved_call = nullptr;
};

// This is null before initialisation and after finalisation.
extern Process* process;
// This stays after finalisation; it is null before initialisation.
extern const Process* known_process;

// MPI_Initialized and MPI_Finalized answer from this; runtime/assembly/lifecycle.h changes it.
enum class Life : int { kBefore, kInitialized, kFinalized };
extern Life life;

// This is the process while several threads may call at once or it is profiled, else null. The
// object lives as long as the program, so a thread that comes while others take MPI down finds a
// lock.
extern std::atomic<Process*> shared_process;

// While a Guard is held the thread is alone inside the library. It costs one predictable branch
// below MPI_THREAD_MULTIPLE.
class Guard {
 public:
  [[gnu::always_inline]] Guard() : held_(shared_process.load(std::memory_order_acquire)) {
    if (held_ != nullptr) [[unlikely]]
      Enter(held_);
  }
  [[gnu::always_inline]] ~Guard() {
    if (held_ != nullptr) [[unlikely]]
      Leave(held_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  static void Enter(Process* process);
  static void Leave(Process* process);
  Process* const held_;
};

// This is the Guard of an MPI function, which is also counted if the process is profiled
// (runtime/trace/profile.h).
class CallGuard {
 public:
  [[gnu::always_inline]] explicit CallGuard(Call call)
      : held_(shared_process.load(std::memory_order_acquire)) {
    if (held_ != nullptr) [[unlikely]]
      Enter(held_, call, __builtin_return_address(0));
  }
  [[gnu::always_inline]] ~CallGuard() {
    if (held_ != nullptr) [[unlikely]]
      Leave(held_);
  }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  static void Enter(Process* process, Call call, const void* place);
  static void Leave(Process* process);
  Process* const held_;
};

// Notes that the MPI call under way has made something that a checkpoint cannot save yet, and that
// it is gone again.
void NoteUnsaved();
void ForgetUnsaved();

// Lets other threads into the library while this one gives the CPU up or is in a long system call.
// It does nothing below MPI_THREAD_MULTIPLE.
class Unlocked {
 public:
  Unlocked() {
    if (process->before_unlock != nullptr) process->before_unlock();
    depth_ = process->lock.ReleaseAll();
  }
  // The thread naps: see LibraryLock::ReleaseToNap().
  struct ToNap {};
  explicit Unlocked(ToNap) {
    if (process->before_unlock != nullptr) process->before_unlock();
    depth_ = process->lock.ReleaseToNap();
  }
  ~Unlocked() { process->lock.RegainAll(depth_); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  int depth_;
};

}  // namespace lamina::core
