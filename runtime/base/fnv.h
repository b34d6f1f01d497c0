// SPDX-License-Identifier: BSD-3-Clause
// FNV-1a, a hash that is good enough where nobody chooses the text to do harm.
// Source: RFC 9923.
#pragma once

#include <cstdint>
#include <string_view>

namespace lamina {

constexpr std::uint32_t Fnv32(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

constexpr std::uint64_t Fnv64(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace lamina
