// SPDX-License-Identifier: BSD-3-Clause
// How to wait: poll, then yield, then sleep. This is the only policy of the library.
//
// A process that has a CPU of its own polls for a while, because waking a process on another core
// takes long. A process that shares its CPU yields at once, because the one it waits for may need
// that CPU. Whether ranks share CPUs is declared (Sharing), and is also learned from yields,
// because a neighbour may leave two ranks one CPU. In the end both sleep, so a blocked rank costs
// nothing.
#pragma once

#include <sched.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "runtime/base/param.h"
#include "runtime/base/sharing.h"
#include "transports/transport.h"

namespace lamina::waiting {

struct WaitParams {
  std::string mode = "auto";
  std::uint32_t spin_polls = 1000;
  std::uint32_t yield_polls = 100;
  std::uint32_t awake_us = 1000;
  std::uint32_t sleep_ms = 200;
};
inline constexpr std::tuple kWaitFields{
    param::Describe("p2p.wait.mode", &WaitParams::mode, "auto|exclusive|oversubscribed",
                    "exclusive: poll before yielding; oversubscribed: yield at once. auto compares "
                    "the CPUs this process may use with the ranks on its node."),
    param::Describe(
        "p2p.wait.spin_polls", &WaitParams::spin_polls, Unit::kCount, 0u, 1000000000u,
        "Empty polls before the first yield in exclusive mode. Raise it if answers take "
        "longer than waking a process; that keeps the CPU from others for longer."),
    param::Describe("p2p.wait.yield_polls", &WaitParams::yield_polls, Unit::kCount, 0u, 1000000000u,
                    "Yields before sleeping. Raise it if ranks that share CPUs fall asleep too "
                    "often; a rank that yields keeps its CPU busy."),
    param::Describe("p2p.wait.awake_us", &WaitParams::awake_us, Unit::kMicroseconds, 0u, 1000000u,
                    "How long to yield, at least, before sleeping. It should cover one long "
                    "message, because waking a sleeper is slow; a rank that yields keeps its CPU "
                    "busy."),
    param::Describe("p2p.wait.sleep_ms", &WaitParams::sleep_ms, Unit::kMilliseconds, 1u, 60000u,
                    "Longest sleep before looking again whether the peers are still there."),
};

// The parameters, resolved for this process.
struct WaitPolicy {
  Sharing sharing = Sharing::kExclusive;
  std::uint32_t spin_polls = 0;  // always 0 where ranks share CPUs
  std::uint32_t yield_polls = 100;
  std::uint32_t awake_us = 0;
  std::uint32_t sleep_ms = 200;
};
// `allowed_cpus` counts the CPUs this process may run on, `local_ranks` the job's ranks on its
// node. This is the only place where the library decides whether ranks share CPUs.
WaitPolicy MakePolicy(const WaitParams& params, std::uint32_t allowed_cpus,
                      std::uint32_t local_ranks);
std::uint32_t AllowedCpus();

// One wait. Construct it when the waiting begins; call Idle() after every poll that found nothing
// and Busy() after one that found something.
class Waiter {
 public:
  explicit Waiter(const WaitPolicy& policy) : policy_(policy) {}
  enum class Advice { kPoll, kYield, kSleep };
  Advice Idle() {
    ++empty_polls_;
    const std::uint32_t spin_polls = SharesCpu() ? 0 : policy_.spin_polls;
    if (empty_polls_ <= spin_polls) return Advice::kPoll;
    if (empty_polls_ <= spin_polls + policy_.yield_polls) return Advice::kYield;
    return policy_.awake_us != 0 && StillAwake() ? Advice::kYield : Advice::kSleep;
  }
  void Busy() {
    empty_polls_ = 0;
    tired_at_ns_ = 0;
  }
  // Gives the CPU up once. Where ranks have CPUs of their own, all later waits learn from it.
  void Yield();

  // True if the last yield let a process in that soon gave the CPU back, as another waiting rank
  // does. It is false after a process that kept the CPU, because polling then loses less time than
  // giving up another slice.
  static bool SharesCpu() { return shares_cpu_.load(std::memory_order_relaxed); }

 private:
  bool StillAwake();

  static inline std::atomic<bool> shares_cpu_{false};

  const WaitPolicy& policy_;
  std::uint32_t empty_polls_ = 0;
  std::uint64_t tired_at_ns_ = 0;  // 0: the clock has not been looked at yet
};

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
inline void Yield() { sched_yield(); }

// One sleep, which ends when one of several transports rings. It is made and destroyed under the
// lock that guards the transports and slept in without it. Only one nap may exist at a time. A ring
// between arming and sleeping is not lost.
class Nap {
 public:
  explicit Nap(std::span<transport::Transport* const> transports);  // arms them
  ~Nap();                                                           // disarms
  Nap(const Nap&) = delete;
  Nap& operator=(const Nap&) = delete;

  // False: one of them has news, so there is no reason to sleep.
  bool armed() const { return armed_; }
  // Sleeps at most that long.
  void Sleep(std::uint32_t sleep_ms) const;

 private:
  static constexpr std::size_t kTransportsMax = 16;
  const std::span<transport::Transport* const> transports_;
  transport::Bell bells_[kTransportsMax];
  std::size_t asked_ = 0;
  bool armed_ = true;
};

// The thread sleeps while `word` is `value`, until somebody wakes it, but at most that long.
void SleepOn(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t sleep_ms);
void WakeFrom(std::atomic<std::uint32_t>& word, int sleepers_max = INT_MAX);

}  // namespace lamina::waiting
