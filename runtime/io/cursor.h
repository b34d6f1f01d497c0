// SPDX-License-Identifier: BSD-3-Clause
// A cursor walks the data bytes of a layout that is repeated for ever, without writing the pieces
// out. A position counts data bytes; an offset counts all bytes, holes too.
//
// Cost: memory for the depth of nesting; Next is O(1) amortised; Seek and PositionAt take
//       O(depth * log groups).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/datatype/layout.h"

namespace lamina::io {

// A run is data that touches.
struct Run {
  std::int64_t offset;
  std::int64_t bytes;
};

class Cursor {
 public:
  // Copy number i of `layout`, which must have data and outlive the cursor, begins at
  // base + i * extent. The cursor begins at position 0.
  Cursor(const datatype::Layout& layout, std::int64_t extent, std::int64_t base);

  void Seek(std::int64_t position);
  // Returns the next run of at most `bytes_max` (> 0) bytes and moves behind it. Pieces that touch
  // are one run.
  Run Next(std::int64_t bytes_max);
  // Returns how many data bytes lie in front of `offset`. The layout and its copies must ascend.
  std::int64_t PositionAt(std::int64_t offset) const;

 private:
  // This is one level of nesting: the piece of the group that the cursor is in. The layout is at
  // `base`.
  struct Frame {
    const datatype::Layout* layout;
    std::int64_t base;
    std::size_t group;
    std::int64_t piece;

    const datatype::Group& at() const { return layout->groups[group]; }
    std::int64_t PieceOffset() const {
      const datatype::Group& group = at();
      const bool listed = group.kind == datatype::Group::Kind::kListed ||
                          group.kind == datatype::Group::Kind::kMixed;
      return base + group.offset + (listed ? group.offsets[piece] : piece * group.stride);
    }
    std::int64_t PieceBytes() const {
      const datatype::Group& group = at();
      return group.kind == datatype::Group::Kind::kMixed ? group.ends[piece + 1] - group.ends[piece]
                                                         : group.bytes;
    }
  };

  void Descend(const datatype::Layout* layout, std::int64_t base, std::int64_t position);
  void DescendToFirst(const datatype::Layout* layout, std::int64_t base);
  void NextPiece();

  const datatype::Layout& layout_;
  const std::int64_t extent_;
  const std::int64_t base_;
  std::int64_t tile_ = 0;
  std::int64_t skip_ = 0;  // bytes of the piece that are behind the cursor
  std::vector<Frame> frames_;
};

// Returns the offset of the first data byte.
std::int64_t FirstOffset(const datatype::Layout& layout);

}  // namespace lamina::io
