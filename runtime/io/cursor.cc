// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/cursor.h"

#include <algorithm>

namespace lamina::io {
namespace {

using datatype::Group;
using datatype::Layout;
using Kind = Group::Kind;

std::int64_t OffsetOfFirst(const Group& group) {
  switch (group.kind) {
    case Kind::kStrided:
      return group.offset;
    case Kind::kListed:
    case Kind::kMixed:
      return group.offset + group.offsets[0];
    case Kind::kNested:
      return group.offset + FirstOffset(*group.inner);
  }
  return group.offset;
}

std::int64_t DataBefore(const Layout& layout, std::int64_t offset);

// Returns how many data bytes of `group`, whose first one lies before `offset`, do so.
std::int64_t DataBefore(const Group& group, std::int64_t offset) {
  const std::int64_t reach = offset - group.offset;
  if (group.kind == Kind::kListed || group.kind == Kind::kMixed) {
    const std::int64_t* const end = group.offsets + group.pieces;
    const std::int64_t piece = std::lower_bound(group.offsets, end, reach) - group.offsets - 1;
    const bool mixed = group.kind == Kind::kMixed;
    const std::int64_t before = mixed ? group.ends[piece] : piece * group.bytes;
    const std::int64_t bytes = mixed ? group.ends[piece + 1] - before : group.bytes;
    return before + std::min(bytes, reach - group.offsets[piece]);
  }
  const std::int64_t lead = group.kind == Kind::kNested ? FirstOffset(*group.inner) : 0;
  const std::int64_t piece =
      group.stride > 0 ? std::min((reach - lead) / group.stride, group.pieces - 1) : 0;
  const std::int64_t within = reach - piece * group.stride;
  return piece * group.bytes + (group.kind == Kind::kNested ? DataBefore(*group.inner, within)
                                                            : std::min(group.bytes, within));
}

std::int64_t DataBefore(const Layout& layout, std::int64_t offset) {
  const auto behind =
      std::partition_point(layout.groups.begin(), layout.groups.end(),
                           [offset](const Group& group) { return OffsetOfFirst(group) < offset; });
  if (behind == layout.groups.begin()) return 0;
  const Group& group = *std::prev(behind);
  return group.position + DataBefore(group, offset);
}

}  // namespace

std::int64_t FirstOffset(const Layout& layout) { return OffsetOfFirst(layout.groups.front()); }

Cursor::Cursor(const Layout& layout, std::int64_t extent, std::int64_t base)
    : layout_(layout), extent_(extent), base_(base) {
  Descend(&layout_, base_, 0);
}

void Cursor::Seek(std::int64_t position) {
  frames_.clear();
  tile_ = position / layout_.size;
  Descend(&layout_, base_ + tile_ * extent_, position % layout_.size);
}

// Enters `layout`, which lies at `base`, at this position in it.
void Cursor::Descend(const Layout* layout, std::int64_t base, std::int64_t position) {
  for (;;) {
    const auto behind =
        std::partition_point(layout->groups.begin(), layout->groups.end(),
                             [position](const Group& group) { return group.position <= position; });
    const Group& group = *std::prev(behind);
    Frame frame{layout, base, static_cast<std::size_t>(&group - layout->groups.data()), 0};
    position -= group.position;
    if (group.kind == Kind::kMixed) {
      frame.piece =
          std::upper_bound(group.ends, group.ends + group.pieces, position) - group.ends - 1;
      position -= group.ends[frame.piece];
    } else {
      frame.piece = position / group.bytes;
      position %= group.bytes;
    }
    frames_.push_back(frame);
    if (group.kind != Kind::kNested) break;
    layout = group.inner;
    base = frame.PieceOffset();
  }
  skip_ = position;
}

// Enters `layout`, which lies at `base`, at its first byte.
void Cursor::DescendToFirst(const Layout* layout, std::int64_t base) {
  for (;;) {
    frames_.push_back({layout, base, 0, 0});
    if (layout->groups.front().kind != Kind::kNested) return;
    base = frames_.back().PieceOffset();
    layout = layout->groups.front().inner;
  }
}

void Cursor::NextPiece() {
  skip_ = 0;
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (++frame.piece == frame.at().pieces) {
      frame.piece = 0;
      if (++frame.group == frame.layout->groups.size()) {
        frames_.pop_back();
        continue;
      }
    }
    if (frame.at().kind == Kind::kNested) DescendToFirst(frame.at().inner, frame.PieceOffset());
    return;
  }
  ++tile_;
  DescendToFirst(&layout_, base_ + tile_ * extent_);
}

Run Cursor::Next(std::int64_t bytes_max) {
  Run run{frames_.back().PieceOffset() + skip_, 0};
  for (std::int64_t offset = run.offset; offset == run.offset + run.bytes;
       offset = frames_.back().PieceOffset() + skip_) {
    const std::int64_t piece_bytes = frames_.back().PieceBytes();
    const std::int64_t taken = std::min(piece_bytes - skip_, bytes_max - run.bytes);
    run.bytes += taken;
    skip_ += taken;
    if (skip_ == piece_bytes) NextPiece();
    if (run.bytes == bytes_max) break;
  }
  return run;
}

std::int64_t Cursor::PositionAt(std::int64_t offset) const {
  const std::int64_t reach = offset - base_;
  const std::int64_t lead = FirstOffset(layout_);
  if (reach <= lead) return 0;
  const std::int64_t tile = extent_ > 0 ? (reach - lead) / extent_ : 0;
  return tile * layout_.size + DataBefore(layout_, reach - tile * extent_);
}

}  // namespace lamina::io
