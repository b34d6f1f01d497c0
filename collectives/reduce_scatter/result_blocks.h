// SPDX-License-Identifier: BSD-3-Clause
// The blocks that a reduce_scatter cuts its vector into, one for each rank. They all have one
// length in reduce_scatter_block, and given lengths in reduce_scatter.
#pragma once

#include <algorithm>
#include <vector>

#include "collectives/collective.h"

namespace lamina::collective {

class ResultBlocks {
 public:
  ResultBlocks(const Call& call, const Shape& shape) : count_(call.output_count) {
    if (call.operation == Operation::kReduceScatterBlock) {
      longest_ = count_;
      elements_ = shape.ranks * count_;
      return;
    }
    for (const std::int64_t count : call.output_counts) {
      begins_.push_back(elements_);
      elements_ += count;
      longest_ = std::max(longest_, count);
    }
    begins_.push_back(elements_);
  }

  // Where rank `rank`'s block begins; `rank` may be the number of ranks.
  std::int64_t Begin(Rank rank) const {
    return begins_.empty() ? rank * count_ : begins_[static_cast<std::size_t>(rank)];
  }
  std::int64_t Count(Rank first, Rank last) const { return Begin(last) - Begin(first); }
  std::int64_t Count(Rank rank) const { return Count(rank, rank + 1); }
  Slice InputOf(Rank rank) const { return Input(Begin(rank), Count(rank)); }
  std::int64_t longest() const { return longest_; }
  std::int64_t elements() const { return elements_; }

 private:
  std::int64_t count_;
  std::int64_t longest_ = 0;
  std::int64_t elements_ = 0;
  std::vector<std::int64_t> begins_;
};

// The length of the whole vector in data bytes.
inline double BytesOfAll(const Call& call, const Shape& shape) {
  const double bytes = static_cast<double>(call.bytes);
  return call.operation == Operation::kReduceScatterBlock ? shape.ranks * bytes : bytes;
}

}  // namespace lamina::collective
