// SPDX-License-Identifier: BSD-3-Clause
// How many segments the chain cuts a buffer into; the proof of its traffic asks too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/ids.h"

namespace lamina::collective {

// At least 2, at most one per byte. The same on all ranks: every IEEE machine rounds alike. `bytes`
// above 1.
inline std::int64_t ChainSegments(std::int64_t bytes, Rank ranks) {
  constexpr double kHalfSpeedBytes = 8192;  // alpha / beta
  const double square = (ranks - 1) * (static_cast<double>(bytes) / kHalfSpeedBytes);
  // Its root, bit by bit: std::sqrt would bring the mathematical library into every process.
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 40; bit != 0; bit /= 2) {
    const auto next = static_cast<double>(root + bit);
    if (next * next <= square) root += bit;
  }
  return std::clamp(root, std::int64_t{2}, bytes);
}

}  // namespace lamina::collective
