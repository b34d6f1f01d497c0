// SPDX-License-Identifier: BSD-3-Clause
// The memory that a member has attached to a dynamic window, in a table that the other members of
// its node read while it changes.
//
// Regions are sorted by address. The generation is odd while the owner changes the table; a reader
// that saw it change looks again. A table that has overflowed admits every address: the kernel
// still refuses what does not exist.
#pragma once

#include <atomic>
#include <cstdint>

namespace lamina::rma {

struct AttachTable {
  static constexpr std::uint32_t kRegionsMax = 65536;
  struct Region {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> bytes;
  };

  std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> count;
  std::atomic<std::uint32_t> beyond;  // regions that found no room; the last to be attached
  Region regions[kRegionsMax];

  // The owner alone calls these two. `address` + `bytes` does not wrap around. False: the region
  // overlaps another one, or begins where another one does.
  bool Attach(std::uint64_t address, std::uint64_t bytes);
  // False: no region begins there.
  bool Detach(std::uint64_t address);

  // True if the bytes lie within one region.
  bool Holds(std::uint64_t address, std::uint64_t bytes) const;

 private:
  std::uint32_t FirstAfter(std::uint64_t address) const;
};

}  // namespace lamina::rma
