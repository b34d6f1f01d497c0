// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/await.h"

#include <algorithm>

#include "runtime/base/clock.h"
#include "runtime/core/process.h"
#include "runtime/p2p/p2p.h"

namespace lamina::dynamic {
namespace {

// Messages are looked after this often while descriptors are waited for.
constexpr std::uint64_t kNapMs = 1;
constexpr std::uint64_t kLongNapMs = 10;
// Naps become long after this time.
constexpr std::uint64_t kPatienceMs = 1000;

}  // namespace

std::uint64_t MomentIn(std::uint64_t timeout_ms) {
  return timeout_ms == 0 ? kForEver : MonotonicMs() + timeout_ms;
}

bool AwaitReady(std::span<pollfd> descriptors, std::uint64_t until_ms) {
  const std::uint64_t began_ms = MonotonicMs();
  for (;;) {
    const bool moved = p2p::Progress();
    const std::uint64_t now_ms = MonotonicMs();
    std::uint64_t nap_ms = now_ms - began_ms < kPatienceMs ? kNapMs : kLongNapMs;
    if (moved || now_ms >= until_ms) nap_ms = 0;
    int ready;
    {
      const core::Unlocked unlocked;
      ready = poll(descriptors.data(), descriptors.size(), static_cast<int>(nap_ms));
    }
    if (ready > 0) return true;
    if (now_ms >= until_ms) return false;
  }
}

}  // namespace lamina::dynamic
