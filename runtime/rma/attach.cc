// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/attach.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lamina::rma {
namespace {

template <class Word>
Word Load(const std::atomic<Word>& word) {
  return word.load(std::memory_order_relaxed);
}
template <class Word>
void Store(std::atomic<Word>* word, Word value) {
  word->store(value, std::memory_order_relaxed);
}

template <class Region>
void Move(Region* to, const Region& from) {
  Store(&to->address, Load(from.address));
  Store(&to->bytes, Load(from.bytes));
}

// While it lives, readers know that the table changes.
class Change {
 public:
  explicit Change(std::atomic<std::uint32_t>* generation) : generation_(generation) {
    generation_->fetch_add(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Change() { generation_->fetch_add(1, std::memory_order_release); }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

 private:
  std::atomic<std::uint32_t>* const generation_;
};

// How many of the first `count` have come at an address or before it.
template <class AddressAt>
std::uint32_t CountUpTo(std::uint64_t address, std::uint32_t count, const AddressAt& at) {
  std::uint32_t first = 0;
  while (count > 0) {
    const std::uint32_t half = count / 2;
    if (at(first + half) <= address) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace

// A reader may see a table in change, so no number in it is trusted.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
const typename AttachTableOf<RegionsMax, ShelfRegions>::Region&
AttachTableOf<RegionsMax, ShelfRegions>::At(std::uint32_t shelf, std::uint32_t place) const {
  return regions[Load(order[shelf]) % kShelvesMax][place];
}
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
typename AttachTableOf<RegionsMax, ShelfRegions>::Region&
AttachTableOf<RegionsMax, ShelfRegions>::At(std::uint32_t shelf, std::uint32_t place) {
  return regions[Load(order[shelf])][place];
}
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
std::uint32_t AttachTableOf<RegionsMax, ShelfRegions>::CountOn(std::uint32_t shelf) const {
  return std::min(Load(counts[Load(order[shelf]) % kShelvesMax]), kShelfRegions);
}
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
void AttachTableOf<RegionsMax, ShelfRegions>::SetCount(std::uint32_t shelf,
                                                       std::uint32_t regions_now) {
  Store(&counts[Load(order[shelf])], regions_now);
}

template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
typename AttachTableOf<RegionsMax, ShelfRegions>::Spot
AttachTableOf<RegionsMax, ShelfRegions>::Behind(std::uint64_t address) const {
  const std::uint32_t shelf = CountUpTo(address, std::min(Load(shelves), kShelvesMax),
                                        [this](std::uint32_t i) { return Load(At(i, 0).address); });
  if (shelf == 0) return {0, 0};
  return {shelf - 1, CountUpTo(address, CountOn(shelf - 1),
                               [&](std::uint32_t i) { return Load(At(shelf - 1, i).address); })};
}

// Puts an empty shelf into the order.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
void AttachTableOf<RegionsMax, ShelfRegions>::AddShelf(std::uint32_t shelf) {
  const std::uint32_t used = Load(shelves);
  const bool anew = used == Load(made);
  const std::uint32_t which = anew ? used : Load(order[used]);
  if (anew) Store(&made, used + 1);
  for (std::uint32_t i = used; i > shelf; --i) Store(&order[i], Load(order[i - 1]));
  Store(&order[shelf], which);
  Store(&counts[which], 0u);
  Store(&shelves, used + 1);
}

template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
void AttachTableOf<RegionsMax, ShelfRegions>::DropShelf(std::uint32_t shelf) {
  const std::uint32_t last = Load(shelves) - 1, which = Load(order[shelf]);
  for (std::uint32_t i = shelf; i < last; ++i) Store(&order[i], Load(order[i + 1]));
  Store(&order[last], which);
  Store(&shelves, last);
}

// Fills the shelves one after the other.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
void AttachTableOf<RegionsMax, ShelfRegions>::Pack() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint32_t shelf = 0; shelf < Load(shelves); ++shelf)
    for (std::uint32_t i = 0; i < CountOn(shelf); ++i)
      all.emplace_back(Load(At(shelf, i).address), Load(At(shelf, i).bytes));
  Store(&shelves, 0u);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::uint32_t shelf = i / kShelfRegions, place = i % kShelfRegions;
    if (place == 0) AddShelf(shelf);
    Store(&At(shelf, place).address, all[i].first);
    Store(&At(shelf, place).bytes, all[i].second);
    SetCount(shelf, place + 1);
  }
}

// Returns where the region belongs, on a shelf that is not full. Regions that come in order fill
// their shelves; in between a full one is split.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
typename AttachTableOf<RegionsMax, ShelfRegions>::Spot
AttachTableOf<RegionsMax, ShelfRegions>::MakeRoom(std::uint64_t address, Spot spot) {
  if (Load(shelves) == 0) AddShelf(0);
  if (CountOn(spot.shelf) < kShelfRegions) return spot;
  if (Load(shelves) == kShelvesMax) {
    Pack();
    return MakeRoom(address, Behind(address));
  }
  if (spot.place == kShelfRegions && spot.shelf + 1 == Load(shelves)) {
    AddShelf(spot.shelf + 1);
    return {spot.shelf + 1, 0};
  }
  if (spot.place == 0) {
    AddShelf(0);
    return {0, 0};
  }
  AddShelf(spot.shelf + 1);
  constexpr std::uint32_t kHalf = kShelfRegions / 2;
  for (std::uint32_t i = 0; i < kHalf; ++i) Move(&At(spot.shelf + 1, i), At(spot.shelf, kHalf + i));
  SetCount(spot.shelf, kHalf);
  SetCount(spot.shelf + 1, kHalf);
  return spot.place <= kHalf ? spot : Spot{spot.shelf + 1, spot.place - kHalf};
}

template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
bool AttachTableOf<RegionsMax, ShelfRegions>::Attach(std::uint64_t address, std::uint64_t bytes) {
  Spot spot = Behind(address);
  if (spot.place > 0) {
    const Region& before = At(spot.shelf, spot.place - 1);
    if (Load(before.address) == address || Load(before.address) + Load(before.bytes) > address)
      return false;
  }
  Spot next = spot;
  if (next.shelf < Load(shelves) && next.place == CountOn(next.shelf)) next = {next.shelf + 1, 0};
  if (next.shelf < Load(shelves) && Load(At(next.shelf, next.place).address) < address + bytes)
    return false;
  const Change change(&generation);
  if (Load(count) == kRegionsMax) {
    beyond.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  spot = MakeRoom(address, spot);
  const std::uint32_t last = CountOn(spot.shelf);
  for (std::uint32_t i = last; i > spot.place; --i) Move(&At(spot.shelf, i), At(spot.shelf, i - 1));
  Region& region = At(spot.shelf, spot.place);
  Store(&region.address, address);
  Store(&region.bytes, bytes);
  SetCount(spot.shelf, last + 1);
  Store(&count, Load(count) + 1);
  return true;
}

template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
bool AttachTableOf<RegionsMax, ShelfRegions>::Detach(std::uint64_t address) {
  const Spot spot = Behind(address);
  const bool listed = spot.place > 0 && Load(At(spot.shelf, spot.place - 1).address) == address;
  const std::uint32_t unlisted = Load(beyond);
  if (!listed && unlisted == 0) return false;
  const Change change(&generation);
  if (!listed) {
    Store(&beyond, unlisted - 1);
    return true;
  }
  const std::uint32_t last = CountOn(spot.shelf) - 1;
  for (std::uint32_t i = spot.place - 1; i < last; ++i)
    Move(&At(spot.shelf, i), At(spot.shelf, i + 1));
  SetCount(spot.shelf, last);
  if (last == 0) DropShelf(spot.shelf);
  Store(&count, Load(count) - 1);
  return true;
}

// Walks over regions that touch each other, from the one before `spot` on. It moves on with each
// step, so it ends however the table changes meanwhile.
template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
bool AttachTableOf<RegionsMax, ShelfRegions>::Covers(Spot spot, std::uint64_t address,
                                                     std::uint64_t bytes) const {
  if (spot.place == 0) return false;
  std::uint32_t shelf = spot.shelf, place = spot.place - 1;
  for (;;) {
    const Region& region = At(shelf, place);
    const std::uint64_t within = address - Load(region.address), length = Load(region.bytes);
    if (within > length) return false;
    const std::uint64_t rest = length - within;
    if (bytes <= rest) return true;
    address += rest;
    bytes -= rest;
    if (++place >= CountOn(shelf)) {
      ++shelf;
      place = 0;
      if (shelf >= std::min(Load(shelves), kShelvesMax)) return false;
    }
    if (Load(At(shelf, place).address) != address) return false;
  }
}

template <std::uint32_t RegionsMax, std::uint32_t ShelfRegions>
bool AttachTableOf<RegionsMax, ShelfRegions>::Holds(std::uint64_t address,
                                                    std::uint64_t bytes) const {
  for (;;) {
    const std::uint32_t before = generation.load(std::memory_order_acquire);
    const bool holds = Load(beyond) != 0 || Covers(Behind(address), address, bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((before & 1) == 0 && generation.load(std::memory_order_relaxed) == before) return holds;
  }
}

template struct AttachTableOf<262144, 512>;
template struct AttachTableOf<512, 8>;  // for its test

}  // namespace lamina::rma
