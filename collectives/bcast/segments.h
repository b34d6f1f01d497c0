// SPDX-License-Identifier: BSD-3-Clause
// How many segments the chain cuts a buffer into; the proof of its traffic asks too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/base/ids.h"

namespace lamina::collective {

// At least 2, at most one per byte. The same on all ranks: the root of an integer is rounded alike
// by every IEEE machine. `bytes` above 1.
inline std::int64_t ChainSegments(std::int64_t bytes, Rank ranks) {
  constexpr double kHalfSpeedBytes = 8192;  // alpha / beta
  const double best = std::sqrt((ranks - 1) * (static_cast<double>(bytes) / kHalfSpeedBytes));
  return std::clamp(static_cast<std::int64_t>(best), std::int64_t{2}, bytes);
}

}  // namespace lamina::collective
