// SPDX-License-Identifier: BSD-3-Clause
// What happens to one cell, shared by the parallel solver and the serial one it is checked against.
#pragma once

#include <cstdint>
#include <cstring>

namespace heat2d {

// Share of the difference to its neighbours that a cell gives up in a step; stable below 0.25.
inline constexpr double kAlpha = 0.2;

// The explicit five-point step. One expression for every cell, so that the result does not depend
// on how the field was cut into blocks.
inline double NextValue(double here, double north, double south, double west, double east) {
  return here + kAlpha * (((north + south) + (west + east)) - 4.0 * here);
}

// Sums of these over all cells agree only if every cell agrees bit for bit, in whatever order.
inline std::uint64_t CellHash(std::uint64_t index, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  std::uint64_t hash = bits + index * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
  return hash ^ (hash >> 31);
}

}  // namespace heat2d
