// SPDX-License-Identifier: BSD-3-Clause
// The memory that a member has attached to a dynamic window, in a table that the other members of
// its node read while it changes.
//
// Regions are sorted by address and lie on shelves, so that a new one moves only those of its own
// shelf: programs attach in any order. The generation is odd while the owner changes the table; a
// reader that saw it change looks again. A table that has overflowed admits every address: the
// kernel still refuses what does not exist.
#pragma once

#include <atomic>
#include <cstdint>

namespace lamina::rma {

// Zeros are an empty table. `RegionsMax`: so many regions are checked for certain.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
struct AttachTableOf {
  static constexpr std::uint32_t kRegionsMax = RegionsMax;
  static constexpr std::uint32_t kShelfRegions = ShelfRegions;
  // Twice as many as full shelves would take, because a shelf that is split leaves two half full.
  static constexpr std::uint32_t kShelvesMax = 2 * kRegionsMax / kShelfRegions;
  struct Region {
    std::atomic<std::uint64_t> address;
    std::atomic<std::uint64_t> bytes;
  };

  std::atomic<std::uint32_t> generation;
  std::atomic<std::uint32_t> count;    // of regions on shelves
  std::atomic<std::uint32_t> beyond;   // regions that found no room; the last to be attached
  std::atomic<std::uint32_t> shelves;  // that have regions
  std::atomic<std::uint32_t> made;     // shelves that had some at some time
  // The shelves in the order of their addresses, and behind them those that have become empty.
  std::atomic<std::uint32_t> order[kShelvesMax];
  std::atomic<std::uint32_t> counts[kShelvesMax];  // of regions, by shelf
  Region regions[kShelvesMax][kShelfRegions];

  // The owner alone calls these two. `address` + `bytes` does not wrap around. False: the region
  // overlaps another one, or begins where another one does.
  bool Attach(std::uint64_t address, std::uint64_t bytes);
  // False: no region begins there.
  bool Detach(std::uint64_t address);

  // True if each of the bytes lies within a region: regions that touch each other are as one.
  bool Holds(std::uint64_t address, std::uint64_t bytes) const;

 private:
  // Behind the last region that begins at or before an address.
  struct Spot {
    std::uint32_t shelf;  // in the order
    std::uint32_t place;  // on the shelf; 0: there is no such region
  };
  Spot Behind(std::uint64_t address) const;
  bool Covers(Spot spot, std::uint64_t address, std::uint64_t bytes) const;
  const Region& At(std::uint32_t shelf, std::uint32_t place) const;
  Region& At(std::uint32_t shelf, std::uint32_t place);
  std::uint32_t CountOn(std::uint32_t shelf) const;
  void SetCount(std::uint32_t shelf, std::uint32_t regions_now);
  void AddShelf(std::uint32_t shelf);
  void DropShelf(std::uint32_t shelf);
  Spot MakeRoom(std::uint64_t address, Spot spot);
  void Pack();
};

using AttachTable = AttachTableOf<262144, 512>;

}  // namespace lamina::rma
