// SPDX-License-Identifier: BSD-3-Clause
// Memory to pack into and unpack from. It grows to the longest piece that was asked for.
#pragma once

#include <cstddef>
#include <vector>

namespace lamina::p2p {

class Scratch {
 public:
  // At least `bytes` bytes, until the next call. What they held is undefined.
  std::byte* Take(std::size_t bytes) {
    if (memory_.size() < bytes) memory_.resize(bytes);
    return memory_.data();
  }

 private:
  std::vector<std::byte> memory_;
};

}  // namespace lamina::p2p
