// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a process alone on its CPU polls first, one that shares it yields at once, both sleep
// last. Method: the policy and the waiter are pure, but for what yields teach, which two threads on
// one CPU try; sleeping is tried against a transport made of a word.
#include "runtime/waiting/waiting.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

namespace lamina::waiting {
namespace {

TEST(WaitPolicy, ComparesRanksWithCpus) {
  const WaitParams params;
  EXPECT_EQ(MakePolicy(params, 2, 2).spin_polls, params.spin_polls);
  EXPECT_EQ(MakePolicy(params, 2, 3).spin_polls, 0u);
  EXPECT_EQ(MakePolicy(params, 2, 2).sharing, Sharing::kExclusive);
  EXPECT_EQ(MakePolicy(params, 2, 3).sharing, Sharing::kShared);
}

TEST(WaitPolicy, ModeOverridesTheCount) {
  WaitParams params;
  params.mode = "oversubscribed";
  EXPECT_EQ(MakePolicy(params, 8, 1).spin_polls, 0u);
  EXPECT_EQ(MakePolicy(params, 8, 1).sharing, Sharing::kShared);
  params.mode = "exclusive";
  EXPECT_EQ(MakePolicy(params, 1, 8).spin_polls, params.spin_polls);
  EXPECT_EQ(MakePolicy(params, 1, 8).sharing, Sharing::kExclusive);
}

TEST(Waiter, PollsThenYieldsThenSleeps) {
  const WaitPolicy policy{.spin_polls = 2, .yield_polls = 1, .sleep_ms = 1};
  Waiter waiter(policy);
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kPoll);
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kPoll);
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kYield);
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kSleep);
  waiter.Busy();
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kPoll);
}

TEST(WaitPolicy, StaysAwakeForTheTimeGivenWhoeverSharesTheCpu) {
  WaitParams params;
  EXPECT_EQ(MakePolicy(params, 2, 2).awake_us, params.awake_us);
  EXPECT_EQ(MakePolicy(params, 2, 3).awake_us, params.awake_us);
}

TEST(Waiter, YieldsForTheTimeGivenThenSleeps) {
  const WaitPolicy policy{.spin_polls = 0, .yield_polls = 0, .awake_us = 200, .sleep_ms = 1};
  Waiter waiter(policy);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kYield);
  while (waiter.Idle() == Waiter::Advice::kYield) continue;
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::microseconds(200));
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kSleep);
  waiter.Busy();
  EXPECT_EQ(waiter.Idle(), Waiter::Advice::kYield);
}

// Two threads on one CPU, as two ranks beside a process that keeps the other CPU busy.
TEST(Waiter, LearnsFromYieldsWhetherItSharesItsCpu) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const WaitPolicy policy{.spin_polls = 1, .yield_polls = 1, .sleep_ms = 1};
  const auto learns = [&](bool shares) {
    for (int i = 0; i < 10000 && Waiter::SharesCpu() != shares; ++i) Waiter(policy).Yield();
    return Waiter::SharesCpu() == shares;
  };
  std::atomic<bool> over = false;
  std::thread other([&] {
    while (!over) sched_yield();
  });
  EXPECT_TRUE(learns(true));
  EXPECT_EQ(Waiter(policy).Idle(), Waiter::Advice::kYield);
  over = true;
  other.join();
  EXPECT_TRUE(learns(false));
  EXPECT_EQ(Waiter(policy).Idle(), Waiter::Advice::kPoll);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// A transport that is nothing but a bell.
class BellOnly : public transport::Transport {
 public:
  Result<std::vector<std::byte>> LocalAddress() override { return std::vector<std::byte>(); }
  Result<std::unique_ptr<transport::Endpoint>> Connect(PeerId,
                                                       std::span<const std::byte>) override {
    return Error(Code::kUnsupported, "no peers");
  }
  std::uint32_t Progress(std::uint32_t) override { return 0; }
  Code Arm(bool, transport::Bell* bell) override {
    ++armed;
    bell->word = &word;
    bell->value = expected;
    return news ? Code::kAgain : Code::kOk;
  }
  void Disarm() override { ++disarmed; }
  void Wake() override {}
  bool Drained() override { return true; }

  std::atomic<std::uint32_t> word{7};
  std::uint32_t expected = 7;
  bool news = false;
  int armed = 0;
  int disarmed = 0;
};

TEST(Nap, IsNotTakenWhenThereIsNews) {
  BellOnly bell;
  bell.news = true;
  transport::Transport* const transports[] = {&bell};
  {
    Nap nap(transports);
    EXPECT_FALSE(nap.armed());
    EXPECT_EQ(bell.armed, 1);
    EXPECT_EQ(bell.disarmed, 0);
  }
  EXPECT_EQ(bell.disarmed, 1);
}

TEST(Nap, DoesNotSleepWhenTheWordHasChanged) {
  BellOnly bell;
  bell.expected = 6;
  transport::Transport* const transports[] = {&bell};
  Nap nap(transports);
  ASSERT_TRUE(nap.armed());
  nap.Sleep(60000);  // would exceed the test's time limit
}

TEST(Nap, EndsAtTheLimit) {
  BellOnly bell;
  transport::Transport* const transports[] = {&bell};
  Nap nap(transports);
  nap.Sleep(1);
  Nap on_nothing({});
  EXPECT_TRUE(on_nothing.armed());
  on_nothing.Sleep(1);
}

TEST(SleepOn, EndsWhenTheWordDiffersOrSomebodyWakes) {
  std::atomic<std::uint32_t> word{1};
  SleepOn(word, 0, 60000);
  std::thread waker([&word] {
    word.store(2);
    WakeFrom(word);
  });
  while (word.load() == 1) SleepOn(word, 1, 60000);
  waker.join();
  EXPECT_EQ(word.load(), 2u);
}

}  // namespace
}  // namespace lamina::waiting
