// SPDX-License-Identifier: BSD-3-Clause
// A vector of n elements cut into `blocks` contiguous blocks whose sizes differ by at most one.
#pragma once

#include <cstdint>

namespace lamina::collective {

class Blocks {
 public:
  Blocks(std::int64_t elements, std::int64_t blocks)
      : small_(elements / blocks), longer_(elements % blocks) {}

  // Where block `index` begins; `index` may be the number of blocks.
  std::int64_t Begin(std::int64_t index) const {
    return index * small_ + (index < longer_ ? index : longer_);
  }
  std::int64_t Count(std::int64_t first, std::int64_t last) const {
    return Begin(last) - Begin(first);
  }

 private:
  std::int64_t small_;
  std::int64_t longer_;
};

}  // namespace lamina::collective
