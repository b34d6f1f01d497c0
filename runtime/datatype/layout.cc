// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/layout.h"

#include <algorithm>

#include "runtime/datatype/tuning.h"

namespace lamina::datatype {
namespace {

using Kind = Group::Kind;

// Returns how many runs one copy of `child` becomes when it is written out.
std::int64_t RunsOf(const Layout& child) {
  std::int64_t runs = 0;
  for (const Group& group : child.groups)
    runs += group.kind == Kind::kListed || group.kind == Kind::kMixed ? group.pieces : 1;
  return runs;
}

}  // namespace

// Pieces that touch are one piece.
void LayoutBuilder::Normalise(Run* run) {
  if (run->inner != nullptr) return;
  if (run->count > 1 && run->stride == run->bytes) {
    run->bytes *= run->count;
    run->count = 1;
  }
  if (run->count == 1) run->stride = 0;
}

// Returns true if the last run of the list took up `run`.
bool LayoutBuilder::JoinsLast(const Run& run) {
  if (runs_.empty() || run.inner != nullptr || runs_.back().inner != nullptr) return false;
  Run& last = runs_.back();
  const std::int64_t last_piece = last.offset + (last.count - 1) * last.stride;
  if (run.count == 1 && run.offset == last_piece + last.bytes) {
    if (last.count == 1) {
      last.bytes += run.bytes;
      return true;
    }
    // The last piece grows and leaves its regular run.
    const Run grown{last_piece, last.bytes + run.bytes, 1, 0};
    --last.count;
    Normalise(&last);
    AppendRun(grown);
    return true;
  }
  if (run.bytes != last.bytes) return false;
  const std::int64_t gap = run.offset - last_piece;
  if (last.count > 1 && gap != last.stride) return false;
  if (run.count > 1 && gap != run.stride) return false;
  last.stride = gap;
  last.count += run.count;
  return true;
}

void LayoutBuilder::AppendRun(Run run) {
  Normalise(&run);
  if (!JoinsLast(run)) runs_.push_back(run);
}

void LayoutBuilder::AppendOnce(const Layout& child, std::int64_t displacement) {
  for (const Group& group : child.groups) {
    const std::int64_t offset = displacement + group.offset;
    switch (group.kind) {
      case Kind::kStrided:
      case Kind::kNested:
        AppendRun({offset, group.bytes, group.pieces, group.stride, group.inner});
        break;
      case Kind::kListed:
        for (std::int64_t i = 0; i < group.pieces; ++i)
          AppendRun({offset + group.offsets[i], group.bytes, 1, 0});
        break;
      case Kind::kMixed:
        for (std::int64_t i = 0; i < group.pieces; ++i)
          AppendRun({offset + group.offsets[i], group.ends[i + 1] - group.ends[i], 1, 0});
        break;
    }
  }
}

void LayoutBuilder::Append(const Layout& child, std::int64_t displacement, std::int64_t count,
                           std::int64_t stride) {
  if (count <= 0 || child.size == 0) return;
  if (child.groups.size() == 1 && child.groups[0].kind == Kind::kStrided) {
    // Copies of one piece, or of pieces whose pattern goes on across the copies, are one run.
    const Group& group = child.groups[0];
    const bool goes_on = count == 1 || stride == group.pieces * group.stride;
    if (group.pieces == 1 || goes_on) {
      AppendRun({displacement + group.offset, group.bytes, group.pieces * count,
                 group.pieces == 1 ? stride : group.stride});
      return;
    }
  }
  const bool is_grid = child.groups.size() == 1 && child.groups[0].kind == Kind::kStrided &&
                       child.pieces >= kGridSide && count >= kGridSide;
  const std::int64_t runs = RunsOf(child);
  const std::int64_t runs_max = runs_.size() < kManyRuns ? kWrittenOutMax : kWrittenOutMaxLate;
  if (is_grid || runs > runs_max || count > runs_max / runs) {
    AppendRun({displacement, child.size, count, stride, &child});
    return;
  }
  for (std::int64_t copy = 0; copy < count; ++copy) AppendOnce(child, displacement + copy * stride);
}

void LayoutBuilder::Append(std::unique_ptr<OwnedLayout> child, std::int64_t displacement,
                           std::int64_t count, std::int64_t stride) {
  Append(static_cast<const Layout&>(*child), displacement, count, stride);
  // Runs, and what a nested group of the child points to, may still be needed.
  made_->parts.push_back(std::move(child));
}

void LayoutBuilder::AddGroup(const Group& group) {
  made_->group_memory.push_back(group);
  made_->group_memory.back().position = made_->size;
  made_->size += group.size;
  made_->pieces = group.kind == Kind::kNested ? kManyPieces : made_->pieces + group.pieces;
}

void LayoutBuilder::AddRun(const Run& run) {
  Group group;
  group.kind = run.inner != nullptr ? Kind::kNested : Kind::kStrided;
  group.size = run.bytes * run.count;
  group.pieces = run.count;
  group.bytes = run.bytes;
  group.offset = run.offset;
  group.stride = run.stride;
  group.inner = run.inner;
  AddGroup(group);
}

void LayoutBuilder::AddListed(std::span<const Piece> pieces) {
  auto offsets = std::make_unique<std::int64_t[]>(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) offsets[i] = pieces[i].offset;
  Group group;
  group.kind = Kind::kListed;
  group.pieces = static_cast<std::int64_t>(pieces.size());
  group.bytes = pieces[0].bytes;
  group.size = group.bytes * group.pieces;
  group.offsets = offsets.get();
  made_->tables.push_back(std::move(offsets));
  AddGroup(group);
}

void LayoutBuilder::AddMixed(std::span<const Piece> pieces) {
  auto table = std::make_unique<std::int64_t[]>(2 * pieces.size() + 1);
  std::int64_t* const ends = table.get() + pieces.size();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    table[i] = pieces[i].offset;
    ends[i + 1] = ends[i] + pieces[i].bytes;
  }
  const auto [least, most] =
      std::minmax_element(pieces.begin(), pieces.end(),
                          [](const Piece& a, const Piece& b) { return a.bytes < b.bytes; });
  Group group;
  group.kind = Kind::kMixed;
  group.bytes = most->bytes;
  group.least_bytes = least->bytes;
  group.pieces = static_cast<std::int64_t>(pieces.size());
  group.size = ends[pieces.size()];
  group.offsets = table.get();
  group.ends = ends;
  made_->tables.push_back(std::move(table));
  AddGroup(group);
}

// Long stretches of pieces of one size are listed; what is between them is mixed.
void LayoutBuilder::AddPieces(std::span<const Piece> pieces) {
  std::size_t mixed_from = 0;
  for (std::size_t first = 0; first < pieces.size();) {
    std::size_t end = first + 1;
    while (end < pieces.size() && pieces[end].bytes == pieces[first].bytes) ++end;
    const bool all = end - first == pieces.size();
    if (all || end - first >= static_cast<std::size_t>(kLoopPieces)) {
      if (first > mixed_from) AddMixed(pieces.subspan(mixed_from, first - mixed_from));
      AddListed(pieces.subspan(first, end - first));
      mixed_from = end;
    }
    first = end;
  }
  if (mixed_from < pieces.size()) AddMixed(pieces.subspan(mixed_from));
}

std::unique_ptr<OwnedLayout> LayoutBuilder::Take() {
  std::vector<Piece> pieces;
  const auto is_short = [this](std::size_t i) {
    return i < runs_.size() && runs_[i].inner == nullptr && runs_[i].count < kLoopPieces;
  };
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const bool alone = pieces.empty() && !is_short(i + 1);
    if (!is_short(i) || alone) {
      AddRun(runs_[i]);
      continue;
    }
    for (std::int64_t k = 0; k < runs_[i].count; ++k)
      pieces.push_back({runs_[i].offset + k * runs_[i].stride, runs_[i].bytes});
    if (is_short(i + 1)) continue;
    AddPieces(pieces);
    pieces.clear();
  }
  runs_.clear();
  made_->groups = made_->group_memory;
  return std::move(made_);
}

}  // namespace lamina::datatype
