// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/datatype/runs.h"

namespace lamina::datatype {
namespace {

// Pieces that touch are one piece.
void Normalise(Run* run) {
  if (run->count > 1 && run->stride == run->bytes) {
    run->bytes *= run->count;
    run->count = 1;
  }
  if (run->count == 1) run->stride = 0;
}

}  // namespace

// True if `run` was taken up by the last run of the list.
bool RunList::JoinsLast(const Run& run) {
  if (runs_.empty()) return false;
  Run& last = runs_.back();
  const std::int64_t last_piece = last.offset + (last.count - 1) * last.stride;
  if (run.count == 1 && run.offset == last_piece + last.bytes) {
    if (last.count == 1) {
      last.bytes += run.bytes;
      return true;
    }
    // The last piece grows and leaves its regular run.
    const Run grown{last_piece, last.bytes + run.bytes, 1, 0, 0};
    --last.count;
    Normalise(&last);
    Append(grown);
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

void RunList::Append(Run run) {
  if (run.bytes == 0 || run.count == 0) return;
  Normalise(&run);
  if (!JoinsLast(run)) runs_.push_back(run);
}

void RunList::AppendCopies(std::span<const Run> child, std::int64_t displacement,
                           std::int64_t count, std::int64_t stride) {
  if (count <= 0) return;
  if (child.size() == 1) {
    Run run = child[0];
    run.offset += displacement;
    // Copies of one piece, or of pieces whose pattern goes on across the copies, are one run.
    if (run.count == 1 || count == 1 || stride == run.count * run.stride) {
      if (run.count == 1) run.stride = stride;
      run.count *= count;
      Append(run);
      return;
    }
  }
  for (std::int64_t copy = 0; copy < count; ++copy)
    for (Run run : child) {
      run.offset += displacement + copy * stride;
      Append(run);
    }
}

std::vector<Run> RunList::Take() {
  std::int64_t position = 0;
  for (Run& run : runs_) {
    run.position = position;
    position += run.bytes * run.count;
  }
  runs_.shrink_to_fit();
  return std::move(runs_);
}

}  // namespace lamina::datatype
