// SPDX-License-Identifier: BSD-3-Clause
// Counts one sleep, and how long it lasted. Made and destroyed under the library lock.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/trace/trace.h"

namespace lamina::p2p {

class Sleeping {
 public:
  Sleeping() : began_(std::chrono::steady_clock::now()) {}
  ~Sleeping() {
    const std::chrono::nanoseconds slept = std::chrono::steady_clock::now() - began_;
    trace::Count(trace::Counter::kSleeps);
    trace::Count(trace::Counter::kSleptNs, static_cast<std::uint64_t>(slept.count()));
  }
  Sleeping(const Sleeping&) = delete;
  Sleeping& operator=(const Sleeping&) = delete;

 private:
  const std::chrono::steady_clock::time_point began_;
};

}  // namespace lamina::p2p
