// SPDX-License-Identifier: BSD-3-Clause
// One block of every member's vector, folded from the last member to the first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/shared/operations.h"

namespace lamina::collective::shared {

// `row(rank)` is where the block of `rank` lies; it may be null, which ends it. The result is in
// `out`, if there is an out that is apart from the first member's block, else in `work` or, of one
// member, where its block is: returns where. `work` is apart from all rows, `out` may be a row.
template <class Row>
const std::byte* FoldBlock(const Reduction& it, Rank ranks, std::int64_t count, const Row& row,
                           std::byte* work, std::byte* out) {
  const std::byte* folded = row(ranks - 1);
  for (Rank rank = ranks - 2; rank >= 0 && folded != nullptr; --rank) {
    const std::byte* const next = row(rank);
    if (next == nullptr) return nullptr;
    std::byte* const into = rank == 0 && out != nullptr && out != next ? out : work;
    datatype::Combine(*it.op, next, folded, into, count, *it.type);
    folded = into;
  }
  return folded;
}

}  // namespace lamina::collective::shared
