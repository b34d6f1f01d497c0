// SPDX-License-Identifier: BSD-3-Clause
// Where the short data of an operation lies: in a stretch of the board's ring, behind the stretch
// of the operation before. The shorter the data, the more operations have room before a writer has
// to wait for readers.
//
// All members take the same stretches, so all find them without asking. Each segment of the ring
// remembers which operation used it last; a writer that comes to the segment again waits until all
// members have finished that operation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/board/board.h"

namespace lamina::collective::board {

class Ring {
 public:
  // Data is short if at least `rows_min` rows of its length fit into the `bytes` of the ring.
  Ring(std::size_t bytes, std::size_t rows_min)
      : bytes_(bytes), short_bytes_max_(bytes / rows_min), last_(bytes / kRingSegmentBytes) {}

  bool IsShort(std::size_t bytes) const { return bytes <= short_bytes_max_; }

  struct Stretch {
    std::size_t offset;
    Number before;  // all members must have finished this operation before somebody writes
  };

  // Takes a stretch for operation `number`, whose data is short.
  Stretch Take(std::size_t bytes, Number number) {
    const std::size_t offset = Next(bytes);
    next_ = offset + WholeLines(bytes);
    const std::size_t first = offset / kRingSegmentBytes;
    for (std::size_t segment = first; segment * kRingSegmentBytes < next_; ++segment) {
      const bool entered = segment > first || offset % kRingSegmentBytes == 0;
      if (entered) before_ = std::max(before_, last_[segment]);
      last_[segment] = number;
    }
    return {offset, before_};
  }
  // Where the next stretch of this length will be.
  std::size_t Next(std::size_t bytes) const {
    return next_ + WholeLines(bytes) > bytes_ ? 0 : next_;
  }

 private:
  static constexpr std::size_t WholeLines(std::size_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  }

  const std::size_t bytes_;
  const std::size_t short_bytes_max_;
  std::size_t next_ = 0;
  Number before_ = 0;
  std::vector<Number> last_;
};

}  // namespace lamina::collective::board
