// SPDX-License-Identifier: BSD-3-Clause
// Where the short data of an operation lies: in a stretch of the board's ring, behind that of the
// operation before. So the shorter it is, the more operations have room before somebody has to wait
// for readers: 256 bytes from one root to 16 ranks on two CPUs, call after call, 2.4 us each with
// room for 8, 0.33 with room for 128.
//
// All members take the same stretches, so all find them without a word. Written down is who used a
// segment of the ring last; who comes to a segment again waits for all of that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "collectives/board/board.h"

namespace lamina::collective::board {

class Ring {
 public:
  // Of `bytes`; what is short has room for at least so many `operations`.
  Ring(std::size_t bytes, std::size_t operations)
      : bytes_(bytes), short_bytes_max_(bytes / operations), last_(bytes / kSegmentBytes) {}

  bool IsShort(std::size_t bytes) const { return bytes <= short_bytes_max_; }

  struct Stretch {
    std::size_t offset;
    Number before;  // before it is written to, all must have finished this operation
  };

  // For operation `number`, `bytes` that are short.
  Stretch Take(std::size_t bytes, Number number) {
    const std::size_t offset = Next(bytes);
    next_ = offset + Lines(bytes);
    const std::size_t first = offset / kSegmentBytes;
    for (std::size_t segment = first; segment * kSegmentBytes < next_; ++segment) {
      const bool entered = segment > first || offset % kSegmentBytes == 0;
      if (entered) before_ = std::max(before_, last_[segment]);
      last_[segment] = number;
    }
    return {offset, before_};
  }
  // Where the next one will be that is as long.
  std::size_t Next(std::size_t bytes) const { return next_ + Lines(bytes) > bytes_ ? 0 : next_; }

 private:
  static constexpr std::size_t kSegmentBytes = 1 << 10;

  static constexpr std::size_t Lines(std::size_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  }

  const std::size_t bytes_;
  const std::size_t short_bytes_max_;
  std::size_t next_ = 0;
  Number before_ = 0;
  std::vector<Number> last_;
};

}  // namespace lamina::collective::board
