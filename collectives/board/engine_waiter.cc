// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/engine_waiter.h"

#include <chrono>

#include "runtime/core/process.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/profile.h"
#include "runtime/trace/trace.h"
#include "runtime/waiting/waiting.h"

namespace lamina::collective::board {
namespace {

using waiting::Waiter;

// Polls and yields. False: it is time to sleep, or another thread wants the library lock.
bool WaitAwake(const Expectation& expectation, const waiting::WaitPolicy& policy) {
  const bool has_threads = core::process->thread_level == MPI_THREAD_MULTIPLE;
  Waiter waiter(policy);
  for (std::uint32_t looks = 1; !expectation.IsOver(); ++looks) {
    if (has_threads && core::process->lock.Wanted()) return false;
    switch (waiter.Idle()) {
      case Waiter::Advice::kPoll:
        waiting::Pause();
        if (looks % kPollsPerProgress == 0) p2p::Progress();
        break;
      case Waiter::Advice::kYield:
        trace::Count(trace::Counter::kYields);
        waiter.Yield();
        if (looks % kYieldsPerProgress == 0) p2p::Progress();
        break;
      case Waiter::Advice::kSleep:
        return false;
    }
  }
  return true;
}

// While it lives, the others know that this member sleeps or is about to.
class Asleep {
 public:
  explicit Asleep(const Expectation& expectation)
      : sleepers_(expectation.board.header().sleepers),
        asleep_(expectation.board.member(expectation.rank).asleep) {
    if (expectation.whom != Expectation::kLaggard)
      expectation.board.member(expectation.rank).waits_long.store(expectation.number);
    asleep_.store(1);
    sleepers_.fetch_add(1);
  }
  ~Asleep() {
    sleepers_.fetch_sub(1);
    asleep_.store(0);
  }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;

 private:
  std::atomic<std::uint32_t>& sleepers_;
  std::atomic<std::uint32_t>& asleep_;
};

struct LongWait {
  const core::Comm& comm;
  const Expectation& expectation;
  std::chrono::steady_clock::time_point looked_around = std::chrono::steady_clock::now();

  // Is asked after each sleep. Sleeps are bounded, so a death is noticed.
  bool IsOver() {
    if (expectation.IsOver()) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_around < kLookAroundEvery) return false;
    looked_around = now;
    expectation.LookAround();
    // Whoever has heard of a loss elsewhere may not come here any more.
    if (!expectation.IsOver() && p2p::IsBroken(comm)) expectation.board.Break();
    return expectation.IsOver();
  }
};

}  // namespace

void EngineWaiter::Wait(const Expectation& expectation) {
  trace::Waiting counted;
  counted.Idle();
  if (WaitAwake(expectation, p2p::Policy())) return;
  const Asleep asleep(expectation);
  const bool one = expectation.whom >= 0;
  const p2p::Awaited awaited{p2p::Awaited::Kind::kBoard,
                             &comm_,
                             one ? members_.RankOf(expectation.whom) : MPI_ANY_SOURCE,
                             0,
                             expectation.number,
                             members_.ranks()};
  const p2p::Awaiting awaiting(awaited);
  LongWait wait{comm_, expectation};
  p2p::WaitUntil([](void* argument) { return static_cast<LongWait*>(argument)->IsOver(); }, &wait);
}

void EngineWaiter::Wake(Rank member) { p2p::Nudge(comm_.peers[members_.RankOf(member)]); }

}  // namespace lamina::collective::board
