// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/waiting/waiting.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "runtime/base/clock.h"

namespace lamina::waiting {
namespace {

// A yield that took less than this let in a rank that waits in its turn. It is shorter than the
// time slice of any scheduler, and longer than two switches with the little that such a rank does.
constexpr std::uint64_t kSoonNs = 500'000;

// How often the kernel took this thread off its CPU although it wanted to run.
long SwitchesOut() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

}  // namespace

WaitPolicy MakePolicy(const WaitParams& params, std::uint32_t allowed_cpus,
                      std::uint32_t local_ranks) {
  const bool exclusive =
      params.mode == "exclusive" || (params.mode == "auto" && local_ranks <= allowed_cpus);
  return {exclusive ? Sharing::kExclusive : Sharing::kShared, exclusive ? params.spin_polls : 0,
          params.yield_polls, params.awake_us, params.sleep_ms};
}

bool Waiter::StillAwake() {
  const std::uint64_t now_ns = MonotonicNs();
  if (tired_at_ns_ == 0) tired_at_ns_ = now_ns + std::uint64_t{policy_.awake_us} * 1000;
  return now_ns < tired_at_ns_;
}

std::uint32_t AllowedCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

void Waiter::Yield() {
  if (policy_.sharing == Sharing::kShared) return waiting::Yield();
  const std::uint64_t before_ns = MonotonicNs();
  const long before = SwitchesOut();
  waiting::Yield();
  const bool let_in = SwitchesOut() != before;
  shares_cpu_.store(let_in && MonotonicNs() - before_ns < kSoonNs, std::memory_order_relaxed);
}

void SleepOn(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint32_t sleep_ms) {
  const timespec limit{static_cast<time_t>(sleep_ms / 1000),
                       static_cast<long>(sleep_ms % 1000) * 1'000'000};
  // Not FUTEX_PRIVATE: a transport's word is shared with the ringer's process.
  syscall(SYS_futex, &word, FUTEX_WAIT, value, &limit, nullptr, 0);
}

void WakeFrom(std::atomic<std::uint32_t>& word, int sleepers_max) {
  syscall(SYS_futex, &word, FUTEX_WAKE, sleepers_max, nullptr, nullptr, 0);
}

Nap::Nap(std::span<transport::Transport* const> transports)
    : transports_(transports.first(std::min(transports.size(), kTransportsMax))) {
  while (asked_ < transports_.size() && armed_) {
    const bool need_descriptor = transports_.size() > 1;
    armed_ = transports_[asked_]->Arm(need_descriptor, &bells_[asked_]) != Code::kAgain;
    ++asked_;
  }
}

Nap::~Nap() {
  for (std::size_t i = 0; i < asked_; ++i) transports_[i]->Disarm();
}

void Nap::Sleep(std::uint32_t sleep_ms) const {
  if (transports_.size() == 1 && bells_[0].word != nullptr && bells_[0].descriptor < 0)
    return SleepOn(*bells_[0].word, bells_[0].value, sleep_ms);
  pollfd descriptors[kTransportsMax];
  nfds_t count = 0;
  for (std::size_t i = 0; i < transports_.size(); ++i)
    if (bells_[i].descriptor >= 0) descriptors[count++] = {bells_[i].descriptor, POLLIN, 0};
  poll(descriptors, count, static_cast<int>(sleep_ms));
}

}  // namespace lamina::waiting
