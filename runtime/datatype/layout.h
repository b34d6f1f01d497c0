// SPDX-License-Identifier: BSD-3-Clause
// A layout is the flattened form of a datatype: pieces of memory in type map order, in groups that
// one loop can copy. It is made once, when the type is committed, and never changes.
//
// Pieces that touch are one piece. Pieces of one size at one distance are a strided group, others
// of one size share a list of offsets, and only what is left keeps a size for each. What repeats
// too often to be written out stays a group that repeats another layout, so that memory grows with
// the arguments of the constructor calls and not with the data they describe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lamina::datatype {

struct Layout;

// Piece i lies at `offset` plus:
//   strided   i * stride
//   listed    offsets[i]
//   mixed     offsets[i], with ends[i + 1] - ends[i] bytes
//   nested    i * stride; the piece is what `inner` describes
struct Group {
  enum class Kind : std::uint8_t { kStrided, kListed, kMixed, kNested };

  Kind kind = Kind::kStrided;
  std::int64_t position = 0;  // of the first piece in the packed data of one element
  std::int64_t size = 0;      // bytes of data in all pieces
  std::int64_t pieces = 0;
  std::int64_t bytes = 0;        // of data in each piece; mixed: in the largest
  std::int64_t least_bytes = 0;  // mixed: in the smallest
  std::int64_t offset = 0;
  std::int64_t stride = 0;
  const std::int64_t* offsets = nullptr;
  const std::int64_t* ends = nullptr;  // pieces + 1 numbers, the first is 0
  const Layout* inner = nullptr;
};

// A layout without nested groups has no more pieces than this, or their number is not known.
inline constexpr std::int64_t kManyPieces = std::int64_t{1} << 40;

struct Layout {
  std::int64_t size = 0;    // bytes of data in one element
  std::int64_t pieces = 0;  // of all groups; kManyPieces if one is nested
  std::span<const Group> groups;
};

// This is a layout with the memory it needs.
struct OwnedLayout : Layout {
  std::vector<Group> group_memory;
  std::vector<std::unique_ptr<std::int64_t[]>> tables;
  std::vector<std::unique_ptr<OwnedLayout>> parts;  // nested groups may point here
};

// Collects the layout of one type from those of its parts, in type map order.
class LayoutBuilder {
 public:
  // Appends `count` copies of `child`, the first moved by `displacement`, each `stride` after the
  // last. `child` must outlive the result.
  void Append(const Layout& child, std::int64_t displacement, std::int64_t count,
              std::int64_t stride);
  // Does the same for a child made on the way.
  void Append(std::unique_ptr<OwnedLayout> child, std::int64_t displacement, std::int64_t count,
              std::int64_t stride);
  std::unique_ptr<OwnedLayout> Take();

 private:
  // A run is `count` pieces of `bytes` each, `stride` apart, or copies of `inner`.
  struct Run {
    std::int64_t offset;
    std::int64_t bytes;
    std::int64_t count;
    std::int64_t stride;
    const Layout* inner = nullptr;
  };
  struct Piece {
    std::int64_t offset;
    std::int64_t bytes;
  };

  static void Normalise(Run* run);
  void AppendOnce(const Layout& child, std::int64_t displacement);
  void AppendRun(Run run);
  bool JoinsLast(const Run& run);
  void AddGroup(const Group& group);
  void AddRun(const Run& run);
  void AddPieces(std::span<const Piece> pieces);
  void AddListed(std::span<const Piece> pieces);
  void AddMixed(std::span<const Piece> pieces);

  std::vector<Run> runs_;
  std::unique_ptr<OwnedLayout> made_ = std::make_unique<OwnedLayout>();
};

}  // namespace lamina::datatype
