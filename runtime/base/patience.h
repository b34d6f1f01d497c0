// SPDX-License-Identifier: BSD-3-Clause
// A Patience is a limit for waiting that only the time uses up for which this process can run. A
// machine or a container that was stopped for a while has stopped whoever is waited for as well.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/clock.h"

namespace lamina {

class Patience {
 public:
  explicit Patience(std::uint64_t limit_ms, std::uint64_t now_ms = MonotonicMs())
      : left_ms_(limit_ms), looked_ms_(now_ms) {}

  // Returns for how many milliseconds to wait until the next call; 0: no longer.
  int NextMs(std::uint64_t now_ms = MonotonicMs()) {
    left_ms_ -= std::min({left_ms_, now_ms - looked_ms_, 2 * kStepMs});
    looked_ms_ = now_ms;
    return static_cast<int>(std::min(left_ms_, kStepMs));
  }

 private:
  // Between two calls, what is longer than two such steps was not spent waiting.
  static constexpr std::uint64_t kStepMs = 50;

  std::uint64_t left_ms_;
  std::uint64_t looked_ms_;
};

}  // namespace lamina
