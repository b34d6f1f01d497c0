// SPDX-License-Identifier: BSD-3-Clause
// How several threads wait at the same time, at MPI_THREAD_MULTIPLE.
//
// One thread keeps watch: it polls, and sleeps on the bells of the transports if nothing comes. The
// others sleep, each on a word of its own. A thread that leaves the library, or gives it up to
// sleep, first looks whether something has happened, and wakes exactly those whose condition holds
// now. A thread that stops keeping watch wakes an heir. So no thread is woken for another's
// message, and none is forgotten.
//
// Threads: the caller holds the library lock, which is given up while it yields or sleeps.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "runtime/waiting/waiting.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Watch {
 public:
  // What is done on watch.
  class Duty {
   public:
    // One round over all transports. True: something happened.
    virtual bool Progress() = 0;
    // The same, of at most so many events of each.
    virtual bool Progress(std::uint32_t events_max) = 0;
    // True if a round is due for something that rings no bell.
    virtual bool IsDue() const = 0;
    // How long a thread may sleep before it has to look again.
    virtual std::uint32_t SleepMsMax() const = 0;
    // The transports that can end a sleep.
    virtual std::span<transport::Transport* const> Ringing() const = 0;
    // Writes down for others what is waited for (noting.h), by the thread that is about to sleep.
    virtual void NoteWait(bool (*done)(void*), void* argument, std::uint64_t since_ms) = 0;
    // Many tests in a row have found nothing.
    virtual void NoteTests() = 0;

   protected:
    ~Duty() = default;
  };

  // `before_unlock` calls WakeThoseDone() of this object. It is hung into core::process while
  // threads sleep.
  Watch(const waiting::WaitPolicy& policy, Duty& duty, void (*before_unlock)())
      : policy_(policy), duty_(duty), before_unlock_(before_unlock) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Progresses until `done(argument)`. Other threads may ask `done` while this one sleeps: it must
  // be quick, must not progress, and is not asked again once it has answered true.
  [[gnu::noinline]] void WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max);
  // Called after a test that found nothing, which a program may do in a loop. Lets in a thread that
  // wants the lock, and now and then gives up a CPU that a peer may need.
  void TestedInVain();

  // Something has happened that a sleeping thread may wait for.
  void Disturb() { disturbed_ = true; }
  // The same where it is likely that no thread sleeps.
  void Moved() {
    if (sleepers_ != nullptr) disturbed_ = true;
  }
  // Says whether a thread has armed the bells of the transports and sleeps on them. A thread that
  // has claimed the library lock and wants the transports for itself rings them, gives up the lock,
  // and waits until naps() has changed.
  bool IsNapping() const { return on_bells_ != nullptr; }
  const std::atomic<std::uint32_t>& naps() const { return naps_; }
  // Wakes the threads whose condition holds, if anything has happened.
  void WakeThoseDone();
  // True if some thread waits, and so looks after the bells.
  bool any_waits() const { return watchers_ > 0; }

 private:
  struct Sleeper;
  bool Sleep(bool (*done)(void*), void* argument, std::uint64_t* since_ms);
  void Wake(Sleeper* sleeper);
  void WakeHeir();
  void NoteThread();

  const waiting::WaitPolicy& policy_;
  Duty& duty_;
  void (*const before_unlock_)();
  Sleeper* sleepers_ = nullptr;  // threads that sleep, the newest first
  Sleeper* on_bells_ = nullptr;  // the one of them that sleeps on the bells
  std::uint32_t watchers_ = 0;   // threads that wait and do not sleep on a word of their own
  pthread_t last_waiter_{};
  std::uint32_t others_wait_ = 0;  // not 0: threads take turns at waiting
  std::uint32_t vain_tests_ = 0;
  std::atomic<std::uint32_t> naps_{0};  // how many have ended
  bool disturbed_ = false;  // something has happened since the sleepers were looked after
};

}  // namespace lamina::p2p
