// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/lock.h"

namespace lamina::rma {

NodeWord::Fields NodeWord::Unpack(std::uint64_t word) {
  return {static_cast<std::uint16_t>(word),
          static_cast<std::uint16_t>(word >> 16),
          {static_cast<std::uint16_t>(word >> 32), static_cast<std::uint16_t>(word >> 48)}};
}

std::uint64_t NodeWord::Pack(const Fields& fields) {
  return std::uint64_t{fields.phase} | std::uint64_t{fields.inside} << 16 |
         std::uint64_t{fields.waiting[0]} << 32 | std::uint64_t{fields.waiting[1]} << 48;
}

bool NodeWord::Enter(Side side, bool nested, std::uint16_t* phase) {
  const auto own = static_cast<unsigned>(side);
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    Fields fields = Unpack(word);
    const bool is_inside = (fields.phase & 1u) == own;
    bool entered = true;
    if (fields.inside == 0) {  // nobody waits either
      if (!is_inside) ++fields.phase;
      fields.inside = 1;
    } else if (is_inside && (nested || fields.waiting[1 - own] == 0)) {
      ++fields.inside;
    } else {
      ++fields.waiting[own];
      *phase = static_cast<std::uint16_t>(fields.phase + (is_inside ? 2 : 1));
      entered = false;
    }
    if (word_.compare_exchange_weak(word, Pack(fields))) return entered;
  }
}

void NodeWord::Leave() {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    Fields fields = Unpack(word);
    const unsigned other = 1 - (fields.phase & 1u);
    if (--fields.inside == 0 && fields.waiting[other] != 0) {
      ++fields.phase;
      fields.inside = fields.waiting[other];
      fields.waiting[other] = 0;
    }
    if (word_.compare_exchange_weak(word, Pack(fields))) return;
  }
}

std::uint32_t NodeWord::Inside(Side side) const {
  const Fields fields = Unpack(word_.load());
  return (fields.phase & 1u) == static_cast<unsigned>(side) ? fields.inside : 0;
}

}  // namespace lamina::rma
