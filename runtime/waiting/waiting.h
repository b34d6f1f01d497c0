// SPDX-License-Identifier: BSD-3-Clause
// How to wait: poll, then yield, then sleep. The one policy of the library.
//
// A process that has a CPU to itself polls for a while, because a wake across cores costs 20 us. A
// process that shares its CPU yields at once, because whoever it waits for may need that CPU.
// Whether it does is declared, and learned from yields: a neighbour may leave two ranks one CPU.
// Both end asleep, so a blocked rank burns nothing. Counts were chosen from the measurements quoted
// in this folder's README.
#pragma once

#include <sched.h>
#include <sys/syscall.h>

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
    param::Describe("p2p.wait.spin_polls", &WaitParams::spin_polls, Unit::kCount, 0u, 1000000000u,
                    "Empty polls before the first yield in exclusive mode, none while yields tell "
                    "that another rank has the same CPU. 1000 lasts about 20 us, one cross-core "
                    "wake; longer delays neighbours without helping."),
    param::Describe("p2p.wait.yield_polls", &WaitParams::yield_polls, Unit::kCount, 0u, 1000000000u,
                    "Yields before sleeping. With 8 ranks on 2 CPUs 100 gave the shortest barrier; "
                    "10 sleeps too often, without sleep the CPU is burnt."),
    param::Describe(
        "p2p.wait.awake_us", &WaitParams::awake_us, Unit::kMicroseconds, 0u, 1000000u,
        "How long to yield, at least, before sleeping. A wake costs 20 to 60 us and a sleeper's "
        "fence interrupts the peer, so who waits for one long message must not sleep: 1000 covers "
        "8 MiB; 1 MiB took 123 us at 70, 60 at 1000. Where most of 64 ranks sleep, yields are "
        "quick, so that the others fall asleep as well: a step of a stencil 451 us at 0, 149 at "
        "1000, with 10 yields."),
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
  // Gives the CPU up once. Where the policy is to poll first, learns from it for all later waits.
  void Yield();

  // The last yield let somebody in who gave the CPU back soon, as a rank does that waits in its
  // turn. Not somebody who kept it: polling loses less time than another slice.
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
// By the system call itself: the C library's wrapper is more code that a process which has been
// away has to find again ("Being away" in test/bench/README.md).
inline void Yield() {
#if defined(__x86_64__)
  long result = SYS_sched_yield;
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#else
  sched_yield();
#endif
}

// One sleep, until one of several transports rings. Made and destroyed under the lock that guards
// the transports, slept in without it: only one nap at a time may exist, but a ring that comes
// between arming and sleeping is not lost.
class Nap {
 public:
  explicit Nap(std::span<transport::Transport* const> transports);  // arms them
  ~Nap();                                                           // disarms
  Nap(const Nap&) = delete;
  Nap& operator=(const Nap&) = delete;

  // False: one of them has news, so there is nothing to sleep for.
  bool armed() const { return armed_; }
  // At most that long.
  void Sleep(std::uint32_t sleep_ms) const;

 private:
  static constexpr std::size_t kTransportsMax = 16;
  const std::span<transport::Transport* const> transports_;
  transport::Bell bells_[kTransportsMax];
  std::size_t asked_ = 0;
  bool armed_ = true;
};

// A thread sleeps until `word` is not `value`, or is woken, or that long.
void SleepOn(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t sleep_ms);
void WakeFrom(std::atomic<std::uint32_t>& word, int sleepers_max = INT_MAX);

}  // namespace lamina::waiting
