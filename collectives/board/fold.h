// SPDX-License-Identifier: BSD-3-Clause
// Folds one block of every member's vector, from the last member to the first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/board/operations.h"
#include "runtime/memory/prefetch.h"

namespace lamina::collective::board {

// Where rows lie: in the caches of the processors that have just written them, or in that of the
// processor that folds them, where ranks share it or the kernel has copied them.
enum class Rows { kAway, kNear };

// Combines two vectors and asks for their lines ahead. The loop that combines has too few lines on
// their way at a time where these are in the caches of other processors.
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

// Folds the blocks row(ranks - 1) ... row(0) of `count` elements and returns the address of the
// result: `out` if it is given and is not row(0), otherwise `work`; with one member, its own block.
// Returns null if a row is null. `work` is apart from all rows; `out` may be a row.
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
