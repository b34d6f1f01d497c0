// SPDX-License-Identifier: BSD-3-Clause
// These are IEEE binary16 numbers for compilers that do not know them.
#pragma once

#include <bit>
#include <cstdint>

namespace lamina::datatype {

// Operations compute in float, which holds the exact sum or product of two halves closely enough
// that rounding twice changes nothing.
struct Half {
  std::uint16_t bits;

  Half() = default;
  // Rounds to nearest, ties to even.
  explicit Half(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = word >> 16 & 0x8000u;
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {  // not a number stays one
      bits = static_cast<std::uint16_t>(sign | 0x7e00u);
    } else if (magnitude >= 0x47800000u) {  // 65536 and above, infinity
      bits = static_cast<std::uint16_t>(sign | 0x7c00u);
    } else if (magnitude < 0x38800000u) {  // below 2^-14: denormal, in units of 2^-24
      const float units = std::bit_cast<float>(magnitude) * 0x1p24f;
      const auto whole = static_cast<std::uint32_t>(units);
      const float rest = units - static_cast<float>(whole);
      const bool up = rest > 0.5f || (rest == 0.5f && (whole & 1) != 0);
      bits = static_cast<std::uint16_t>(sign | (whole + up));
    } else {
      const std::uint32_t odd = magnitude >> 13 & 1;
      const std::uint32_t rounded = magnitude + 0xfffu + odd - (112u << 23);
      bits = static_cast<std::uint16_t>(sign | rounded >> 13);
    }
  }
  explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0) {
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
  friend Half operator+(Half a, Half b) {
    return Half(static_cast<float>(a) + static_cast<float>(b));
  }
  friend Half operator*(Half a, Half b) {
    return Half(static_cast<float>(a) * static_cast<float>(b));
  }
  friend Half operator-(Half a, Half b) {
    return Half(static_cast<float>(a) - static_cast<float>(b));
  }
  friend bool operator<(Half a, Half b) { return static_cast<float>(a) < static_cast<float>(b); }
  friend bool operator>(Half a, Half b) { return b < a; }
};

}  // namespace lamina::datatype
