// SPDX-License-Identifier: BSD-3-Clause
// Numbers under which a peer may speak of one of our requests.
//
// A token is a slot and a generation, so a frame with a wrong or stale token finds nothing instead
// of somebody else's request.
//
// Allocation: the table grows to the largest number of requests that waited at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/request.h"

namespace lamina::p2p {

class TokenTable {
 public:
  std::uint64_t Add(core::Request* request);
  core::Request* Find(std::uint64_t token) const;  // null: no such request
  void Remove(std::uint64_t token);
  std::vector<core::Request*> All() const;
  template <class Look>
  void Each(const Look& look) const {
    for (const Slot& slot : slots_)
      if (slot.request != nullptr) look(slot.request);
  }
  std::size_t size() const { return used_; }

 private:
  struct Slot {
    core::Request* request = nullptr;
    std::uint32_t generation = 1;
    std::uint32_t next_free = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t first_free_ = kNone;
  std::size_t used_ = 0;
  static constexpr std::uint32_t kNone = 0xffffffffu;
};

}  // namespace lamina::p2p
