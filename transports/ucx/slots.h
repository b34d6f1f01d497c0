// SPDX-License-Identifier: BSD-3-Clause
// UCX borrows a slot while it sends: the header and, for short frames, a copy of the payload.
//
// Allocation: a pool grows until it has held its bound once; then none.
// Threads:    one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transports/transport.h"

namespace lamina::ucx {

// The header of the active message of every frame. It is little-endian, as UCX itself assumes.
struct WireHeader {
  std::uint64_t secret;  // the receiver's, which only readers of its card know
  transport::ProcessName sender;
  transport::Header header;
};
static_assert(sizeof(WireHeader) == 32);

class Worker;
class SlotPool;

struct Slot {
  WireHeader wire;
  Worker* worker;
  SlotPool* pool;
  transport::Completion* done;  // null unless this is a zero-copy send
  Slot* next;                   // in the free list
  std::byte* payload;
};

class SlotPool {
 public:
  SlotPool(std::uint32_t payload_bytes, std::uint32_t slots_max)
      : payload_bytes_(payload_bytes), slots_max_(slots_max) {}

  // Null: all are in use.
  Slot* Take() {
    if (free_ == nullptr && !Grow()) return nullptr;
    Slot* slot = free_;
    free_ = slot->next;
    return slot;
  }
  void Give(Slot* slot) {
    slot->next = free_;
    free_ = slot;
  }

 private:
  bool Grow() {
    if (slots_.size() >= slots_max_) return false;
    auto& block = slots_.emplace_back(new std::byte[sizeof(Slot) + payload_bytes_]);
    auto* slot = new (block.get()) Slot{};
    slot->pool = this;
    slot->payload = block.get() + sizeof(Slot);
    Give(slot);
    return true;
  }

  const std::uint32_t payload_bytes_;
  const std::uint32_t slots_max_;
  Slot* free_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> slots_;
};

}  // namespace lamina::ucx
