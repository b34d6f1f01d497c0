// SPDX-License-Identifier: BSD-3-Clause
// One block of every member's vector, folded from the last member to the first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/board/operations.h"
#include "runtime/memory/prefetch.h"

namespace lamina::collective::board {

// Where rows lie: in the processors' caches of those who have just written them, or in that of the
// processor that folds them, where ranks share it or the kernel has copied them.
enum class Rows { kAway, kNear };

// What is combined while the lines behind it are on their way, and the longest vector of which that
// is done: the processor itself sees where a longer one is read, and is faster alone.
inline constexpr std::int64_t kAheadBytes = 2 << 10;
inline constexpr std::int64_t kAheadVectorBytesMax = 256 << 10;

// A loop that combines asks for too few lines at a time where they are away.
inline void CombineAhead(const Reduction& it, const std::byte* first, const std::byte* second,
                         std::byte* out, std::int64_t count) {
  const std::int64_t step = kAheadBytes / it.type->size;
  const bool ahead = it.op->predefined && step > 0 && it.bytes() <= kAheadVectorBytesMax;
  for (; ahead && count > step; count -= step) {
    const std::int64_t bytes = step * it.type->size;
    const std::int64_t end = std::min(2 * bytes, count * it.type->size);
    for (std::int64_t at = bytes; at < end; at += std::int64_t{kLineBytes}) {
      memory::WillRead(first + at);
      memory::WillRead(second + at);
    }
    datatype::Combine(*it.op, first, second, out, step, *it.type);
    first += bytes;
    second += bytes;
    out += bytes;
  }
  datatype::Combine(*it.op, first, second, out, count, *it.type);
}

// `row(rank)` is where the block of `rank` lies; it may be null, which ends it. The result is in
// `out`, if there is an out that is apart from the first member's block, else in `work` or, of one
// member, where its block is: returns where. `work` is apart from all rows, `out` may be a row.
template <class Row>
const std::byte* FoldBlock(const Reduction& it, Rank ranks, std::int64_t count, Rows rows,
                           const Row& row, std::byte* work, std::byte* out) {
  const std::byte* folded = row(ranks - 1);
  for (Rank rank = ranks - 2; rank >= 0 && folded != nullptr; --rank) {
    const std::byte* const next = row(rank);
    if (next == nullptr) return nullptr;
    std::byte* const into = rank == 0 && out != nullptr && out != next ? out : work;
    if (rows == Rows::kAway)
      CombineAhead(it, next, folded, into, count);
    else
      datatype::Combine(*it.op, next, folded, into, count, *it.type);
    folded = into;
  }
  return folded;
}

}  // namespace lamina::collective::board
