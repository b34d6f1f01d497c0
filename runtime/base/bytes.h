// SPDX-License-Identifier: BSD-3-Clause
// Numbers as bytes of a message, in the byte order of this machine, and back.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace lamina {

template <class Number>
void Append(std::vector<std::byte>* bytes, Number number) {
  const auto* at = reinterpret_cast<const std::byte*>(&number);
  bytes->insert(bytes->end(), at, at + sizeof number);
}

// Takes a number off the front. False: there are too few bytes.
template <class Number>
[[nodiscard]] bool Take(std::span<const std::byte>* bytes, Number* number) {
  if (bytes->size() < sizeof *number) return false;
  std::memcpy(number, bytes->data(), sizeof *number);
  *bytes = bytes->subspan(sizeof *number);
  return true;
}

}  // namespace lamina
