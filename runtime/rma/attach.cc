// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/attach.h"

#include <algorithm>

namespace lamina::rma {
namespace {

std::uint64_t Load(const std::atomic<std::uint64_t>& word) {
  return word.load(std::memory_order_relaxed);
}

void Move(AttachTable::Region* to, const AttachTable::Region& from) {
  to->address.store(Load(from.address), std::memory_order_relaxed);
  to->bytes.store(Load(from.bytes), std::memory_order_relaxed);
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

}  // namespace

// The index of the first region that begins behind `address`. A reader may see a table in change,
// so the count is not trusted.
std::uint32_t AttachTable::FirstAfter(std::uint64_t address) const {
  std::uint32_t first = 0;
  std::uint32_t left = std::min(count.load(std::memory_order_relaxed), kRegionsMax);
  while (left > 0) {
    const std::uint32_t half = left / 2;
    if (Load(regions[first + half].address) <= address) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}

bool AttachTable::Attach(std::uint64_t address, std::uint64_t bytes) {
  const std::uint32_t regions_now = count.load(std::memory_order_relaxed);
  const std::uint32_t place = FirstAfter(address);
  if (place > 0) {
    const Region& before = regions[place - 1];
    if (Load(before.address) == address || Load(before.address) + Load(before.bytes) > address)
      return false;
  }
  if (place < regions_now && Load(regions[place].address) < address + bytes) return false;
  const Change change(&generation);
  if (regions_now == kRegionsMax) {
    beyond.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  for (std::uint32_t i = regions_now; i > place; --i) Move(&regions[i], regions[i - 1]);
  regions[place].address.store(address, std::memory_order_relaxed);
  regions[place].bytes.store(bytes, std::memory_order_relaxed);
  count.store(regions_now + 1, std::memory_order_relaxed);
  return true;
}

bool AttachTable::Detach(std::uint64_t address) {
  const std::uint32_t place = FirstAfter(address);
  const bool listed = place > 0 && Load(regions[place - 1].address) == address;
  const std::uint32_t unlisted = beyond.load(std::memory_order_relaxed);
  if (!listed && unlisted == 0) return false;
  const Change change(&generation);
  if (!listed) {
    beyond.store(unlisted - 1, std::memory_order_relaxed);
    return true;
  }
  const std::uint32_t last = count.load(std::memory_order_relaxed) - 1;
  for (std::uint32_t i = place - 1; i < last; ++i) Move(&regions[i], regions[i + 1]);
  count.store(last, std::memory_order_relaxed);
  return true;
}

bool AttachTable::Holds(std::uint64_t address, std::uint64_t bytes) const {
  for (;;) {
    const std::uint32_t before = generation.load(std::memory_order_acquire);
    bool holds = beyond.load(std::memory_order_relaxed) != 0;
    if (const std::uint32_t place = FirstAfter(address); !holds && place > 0) {
      const Region& region = regions[place - 1];
      const std::uint64_t within = address - Load(region.address);
      holds = within <= Load(region.bytes) && bytes <= Load(region.bytes) - within;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if ((before & 1) == 0 && generation.load(std::memory_order_relaxed) == before) return holds;
  }
}

}  // namespace lamina::rma
