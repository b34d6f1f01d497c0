// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/progress/waiting.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

namespace lamina::progress {

WaitPolicy MakePolicy(const WaitParams& params, std::uint32_t allowed_cpus,
                      std::uint32_t local_ranks) {
  const bool exclusive =
      params.mode == "exclusive" || (params.mode == "auto" && local_ranks <= allowed_cpus);
  return {exclusive ? params.spin_polls : 0, params.yield_polls, params.sleep_ms};
}

std::uint32_t AllowedCpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

void Yield() { sched_yield(); }

namespace {

void SleepOnWord(const transport::Bell& bell, std::uint32_t sleep_ms) {
  const timespec limit{static_cast<time_t>(sleep_ms / 1000),
                       static_cast<long>(sleep_ms % 1000) * 1'000'000};
  // Not FUTEX_PRIVATE: the word is shared with the ringer's process.
  syscall(SYS_futex, bell.word, FUTEX_WAIT, bell.value, &limit, nullptr, 0);
}

constexpr std::size_t kTransportsMax = 16;

}  // namespace

void Sleep(std::span<transport::Transport* const> transports, std::uint32_t sleep_ms) {
  const std::size_t count = std::min(transports.size(), kTransportsMax);
  transport::Bell bells[kTransportsMax];
  std::size_t armed = 0;
  bool news = false;
  while (armed < count && !news) {
    news = transports[armed]->Arm(count > 1, &bells[armed]) == Code::kAgain;
    ++armed;
  }
  if (!news) {
    pollfd descriptors[kTransportsMax];
    nfds_t descriptors_count = 0;
    for (std::size_t i = 0; i < count; ++i)
      if (bells[i].descriptor >= 0)
        descriptors[descriptors_count++] = {bells[i].descriptor, POLLIN, 0};
    if (descriptors_count == 0 && count == 1 && bells[0].word != nullptr)
      SleepOnWord(bells[0], sleep_ms);
    else
      poll(descriptors, descriptors_count, static_cast<int>(sleep_ms));
  }
  for (std::size_t i = 0; i < armed; ++i) transports[i]->Disarm();
}

}  // namespace lamina::progress
