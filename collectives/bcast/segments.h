// SPDX-License-Identifier: BSD-3-Clause
// How many segments the chain cuts a buffer into. The test of its traffic asks the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/ids.h"

namespace lamina::collective {

// Returns at least 2 and at most one for each byte; `bytes` is above 1. All ranks get the same
// number, because every IEEE machine rounds alike.
inline std::int64_t ChainSegments(std::int64_t bytes, Rank ranks) {
  constexpr double kHalfSpeedBytes = 8192;  // alpha / beta
  const double square = (ranks - 1) * (static_cast<double>(bytes) / kHalfSpeedBytes);
  // The root is found bit by bit, because std::sqrt would bring the mathematical library into every
  // process.
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 40; bit != 0; bit /= 2) {
    const auto next = static_cast<double>(root + bit);
    if (next * next <= square) root += bit;
  }
  return std::clamp(root, std::int64_t{2}, bytes);
}

}  // namespace lamina::collective
