// SPDX-License-Identifier: BSD-3-Clause
// All intervals are measured by this one clock, CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>

namespace lamina {

inline std::uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}
inline std::uint64_t MonotonicUs() { return MonotonicNs() / 1'000; }
inline std::uint64_t MonotonicMs() { return MonotonicNs() / 1'000'000; }

// The same, some milliseconds late, for a fraction of the price.
inline std::uint64_t CoarseMonotonicMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// What time it is, which another host knows as well; for no intervals.
inline std::uint64_t RealMs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace lamina
