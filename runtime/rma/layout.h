// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of the members of a node lie in the memory that they share. This is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lamina::rma {

enum class Arrangement : std::uint8_t {
  kContiguous,  // part i + 1 begins where part i ends
  // Each part begins on a page of its own, so that its owner's touch places it, or on a larger
  // alignment.
  kPages,
};

struct SharedLayout {
  std::vector<std::size_t>
      offsets;            // of each part; a part without bytes lies between its neighbours
  std::size_t bytes = 0;  // of all parts; 0 if there are none
  bool fits = true;       // false: the sum does not fit into 63 bits
};

// The memory begins on a multiple of `alignment`, a power of two, and on a page.
SharedLayout LayOut(std::span<const std::int64_t> sizes, Arrangement arrangement,
                    std::size_t alignment = 1);

}  // namespace lamina::rma
