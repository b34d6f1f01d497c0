// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/token.h"

namespace lamina::p2p {

std::uint64_t TokenTable::Add(core::Request* request) {
  std::uint32_t index = first_free_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    first_free_ = slots_[index].next_free;
  }
  slots_[index].request = request;
  ++used_;
  return (static_cast<std::uint64_t>(slots_[index].generation) << 32) | index;
}

core::Request* TokenTable::Find(std::uint64_t token) const {
  const std::uint32_t index = static_cast<std::uint32_t>(token);
  if (index >= slots_.size() || slots_[index].generation != token >> 32) return nullptr;
  return slots_[index].request;
}

std::vector<core::Request*> TokenTable::All() const {
  std::vector<core::Request*> all;
  Each([&](core::Request* request) { all.push_back(request); });
  return all;
}

void TokenTable::Remove(std::uint64_t token) {
  if (Find(token) == nullptr) return;
  const std::uint32_t index = static_cast<std::uint32_t>(token);
  slots_[index].request = nullptr;
  ++slots_[index].generation;
  slots_[index].next_free = first_free_;
  first_free_ = index;
  --used_;
}

}  // namespace lamina::p2p
