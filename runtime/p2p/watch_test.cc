// SPDX-License-Identifier: BSD-3-Clause
// Goal:   each of several threads that wait gets out when its condition holds, whoever keeps watch
//         then; the watch is handed over; a test in vain lets another thread in.
// Method: real threads with the real lock, and a duty whose rounds find what the test puts there.
//         Sleeps are long, so a thread that is forgotten makes the test run into its time limit.
#include "runtime/p2p/watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/core/process.h"

namespace lamina::p2p {
namespace {

// What whoever waits says of its rounds.
constexpr std::uint32_t kEventsMax = 3;

// Events lie in `arrived` until a round takes them.
class FakeDuty final : public Watch::Duty {
 public:
  bool Progress() override {
    ++rounds;
    return arrived.exchange(0) != 0;
  }
  bool Progress(std::uint32_t events_max) override {
    EXPECT_EQ(events_max, kEventsMax);
    return Progress();
  }
  bool IsDue() const override { return arrived.load() != 0; }
  std::uint32_t SleepMsMax() const override { return sleep_ms; }
  std::span<transport::Transport* const> Ringing() const override { return {}; }
  void NoteWait(bool (*)(void*), void*, std::uint64_t) override {}
  void NoteTests() override { ++noted_tests; }

  std::atomic<int> arrived{0};
  std::atomic<int> rounds{0};
  std::uint32_t sleep_ms = 60000;
  int noted_tests = 0;
};

Watch* the_watch = nullptr;

class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    process.thread_level = MPI_THREAD_MULTIPLE;
    core::process = &process;
    core::shared_process = &process;
    the_watch = &watch;
  }
  ~WatchTest() override {
    core::process = nullptr;
    core::shared_process = nullptr;
  }
  static bool IsSet(void* flag) { return *static_cast<const bool*>(flag); }

  // All under the lock.
  void Wait(bool* flag) {
    const core::Guard guard;
    ++waiting;
    watch.WaitUntil(IsSet, flag, kEventsMax);
    --waiting;
  }
  void Set(bool* flag) {
    const core::Guard guard;
    *flag = true;
    watch.Disturb();
  }
  int Waiting() {
    const core::Guard guard;
    return waiting;
  }

  bool SomebodySleeps() {
    const core::Guard guard;
    return process.before_unlock != nullptr;
  }

  core::Process process;
  FakeDuty duty;
  waiting::WaitPolicy policy{.spin_polls = 1, .yield_polls = 1, .awake_us = 0, .sleep_ms = 60000};
  Watch watch{policy, duty, [] { the_watch->WakeThoseDone(); }};
  int waiting = 0;
};

TEST_F(WatchTest, WhatHoldsAlreadyIsNotWaitedFor) {
  bool flag = true;
  Wait(&flag);
  EXPECT_EQ(duty.rounds, 0);
}

TEST_F(WatchTest, EveryThreadGetsOutInWhateverOrder) {
  constexpr int kThreads = 4;
  for (int first = 0; first < kThreads; ++first) {
    bool flags[kThreads] = {};
    std::vector<std::thread> threads;
    for (bool& flag : flags) threads.emplace_back([&] { Wait(&flag); });
    while (Waiting() < kThreads) std::this_thread::yield();
    for (int i = 0; i < kThreads; ++i) {
      const int next = (first + i) % kThreads;
      Set(&flags[next]);  // it may be the one on watch
      threads[static_cast<std::size_t>(next)].join();
      EXPECT_EQ(Waiting(), kThreads - 1 - i) << "no other thread got out";
    }
  }
}

TEST_F(WatchTest, AThreadThatLeavesTakesARoundThatIsDue) {
  bool flag = false;
  std::thread sleeper([&] { Wait(&flag); });
  while (!SomebodySleeps()) std::this_thread::yield();
  duty.arrived = 1;
  { const core::Guard guard; }
  EXPECT_EQ(duty.arrived, 0);
  Set(&flag);
  sleeper.join();
}

TEST_F(WatchTest, NobodyLooksAfterSleepersWhereNoneSleeps) {
  watch.Moved();
  watch.WakeThoseDone();
  EXPECT_EQ(process.before_unlock, nullptr);
  EXPECT_EQ(duty.rounds, 0);
}

// The claimer waits until the nap has ended, so whoever goes to nap must not wait for the claimer.
TEST_F(WatchTest, WhoeverGoesToNapDoesNotWaitForTheClaimer) {
  core::LibraryLock& lock = process.lock;
  for (int round = 0; round < 1000; ++round) {
    lock.Lock();
    std::atomic<bool> napping{false};
    std::thread claimer([&] {
      lock.Claim();
      lock.LockClaimed();
      while (!napping) std::this_thread::yield();
      lock.UnlockClaimed();
      lock.Unclaim();
    });
    while (!lock.IsClaimed()) std::this_thread::yield();
    const int depth = lock.ReleaseToNap();
    napping = true;
    claimer.join();
    lock.RegainAll(depth);
    lock.Unlock();
  }
}

}  // namespace
}  // namespace lamina::p2p
