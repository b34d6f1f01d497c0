// SPDX-License-Identifier: BSD-3-Clause
// Keeps accumulates to one element apart, whoever makes them: the memory of a window is divided
// into stripes, each stripe belongs to a zone, and who combines holds its zone.
//
// One zone is held at a time and for one stripe at most, so nobody waits for longer than that takes
// and there is no order to keep. An element belongs to the stripe of its first byte.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/rma/block.h"

namespace lamina::rma {

inline constexpr std::uint64_t kStripeBytes = std::uint64_t{64} << 10;

inline std::uint32_t ZoneOf(std::uint64_t offset) {
  return static_cast<std::uint32_t>(offset / kStripeBytes % kZones);
}

// The zones of one target, as one member of the block takes them.
class Exclusion {
 public:
  Exclusion(Block* block, std::size_t target, std::size_t self)
      : block_(block), zones_(block->member(target).zones), self_(self) {}

  // Returns false, without the zone, if the process that holds it has died.
  bool Take(std::uint32_t zone) {
    std::uint32_t free = 0;
    if (zones_[zone].compare_exchange_strong(free, Mark(), std::memory_order_acquire)) [[likely]]
      return true;
    return TakeAmongOthers(zone);
  }
  void Release(std::uint32_t zone) { zones_[zone].store(0, std::memory_order_release); }

 private:
  std::uint32_t Mark() const { return static_cast<std::uint32_t>(self_) + 1; }
  bool TakeAmongOthers(std::uint32_t zone);

  Block* const block_;
  std::atomic<std::uint32_t>* const zones_;
  const std::size_t self_;
};

}  // namespace lamina::rma
