// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/access.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

namespace lamina::io {
namespace {

using Bytes = std::span<std::byte>;

Bytes Part(Bytes bytes, std::int64_t first, std::int64_t count) {
  return bytes.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

// Takes the file's side of an access chunk by chunk.
class FileSide {
 public:
  explicit FileSide(const Access& access) : access_(access), at_(access.position) {
    if (!access.view->dense) cursor_.emplace(access.view->Begin(access.position));
  }

  // Moves the next bytes of the access. Fewer bytes mean that it is over.
  std::int64_t Move(Bytes chunk, Outcome* outcome) {
    std::int64_t moved = 0;
    const auto bytes = static_cast<std::int64_t>(chunk.size());
    if (access_.view->dense) {
      batch_[0] = {access_.view->OffsetAt(at_), bytes};
      runs_ = 1;
      moved = MoveBatch(chunk, outcome);
      at_ += moved;
      return moved;
    }
    while (moved < bytes) {
      const std::int64_t asked = CollectRuns(bytes - moved);
      const std::int64_t done = MoveBatch(Part(chunk, moved, asked), outcome);
      moved += done;
      if (done < asked) break;
    }
    return moved;
  }

 private:
  std::int64_t Span() const {
    return batch_[runs_ - 1].offset + batch_[runs_ - 1].bytes - batch_[0].offset;
  }

  // Takes the next runs off the cursor, as many as a batch has room for and a window spans.
  std::int64_t CollectRuns(std::int64_t bytes_max) {
    std::int64_t bytes = 0;
    runs_ = 0;
    while (runs_ < kBatchRuns && bytes < bytes_max) {
      batch_[runs_] = cursor_->Next(bytes_max - bytes);
      bytes += batch_[runs_++].bytes;
      if (Span() > (access_.patches ? access_.write_window_bytes : access_.read_window_bytes) / 2)
        break;
    }
    return bytes;
  }

  // Says whether the pieces are so short and close that one call moves them best.
  bool IsOneWindow(std::int64_t bytes) const {
    const std::int64_t window_bytes =
        access_.writes ? access_.write_window_bytes : access_.read_window_bytes;
    return runs_ > 1 && Span() <= window_bytes && bytes / runs_ < kLongRunBytes &&
           Span() / bytes < kSparse;
  }

  std::int64_t MoveBatch(Bytes part, Outcome* outcome) {
    const bool together = IsOneWindow(static_cast<std::int64_t>(part.size()));
    if (!access_.writes)
      return together && access_.sieves ? ReadTogether(part, outcome) : MoveRuns(part, outcome);
    const bool patches = together && access_.patches;
    if (access_.locks == nullptr || access_.atomic)
      return patches ? Patch(part, outcome) : MoveRuns(part, outcome);
    // Those who write whole runs share the lock; who writes back bytes of others has it
    // alone.
    const Run range{batch_[0].offset, Span()};
    if (const int error = access_.locks->Lock(range, patches); error != 0) {
      *outcome = {outcome->bytes, error, "lock", range.offset, range.bytes};
      return 0;
    }
    const std::int64_t done = patches ? Patch(part, outcome) : MoveRuns(part, outcome);
    if (const int error = access_.locks->Unlock(); error != 0 && outcome->error_number == 0)
      *outcome = {outcome->bytes, error, "unlock", range.offset, range.bytes};
    return done;
  }

  std::int64_t MoveRun(const Run& run, Bytes part, Outcome* outcome) {
    const Moved moved = access_.writes ? access_.body->WriteAt(run.offset, part)
                                       : access_.body->ReadAt(run.offset, part);
    if (moved.error_number != 0)
      *outcome = {outcome->bytes, moved.error_number, access_.writes ? "pwrite" : "pread",
                  run.offset + moved.bytes, run.bytes - moved.bytes};
    return moved.bytes;
  }

  std::int64_t MoveRuns(Bytes part, Outcome* outcome) {
    std::int64_t done = 0;
    for (int i = 0; i < runs_; ++i) {
      const std::int64_t moved = MoveRun(batch_[i], Part(part, done, batch_[i].bytes), outcome);
      done += moved;
      if (moved < batch_[i].bytes) break;
    }
    return done;
  }

  // Reads what the batch spans, as far as the file goes.
  Moved ReadWindow(Outcome* outcome) {
    if (window_room_ < Span()) {
      window_room_ = Span();
      window_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(window_room_));
    }
    const std::int64_t first = batch_[0].offset;
    const Moved read = access_.body->ReadAt(first, Window());
    if (read.error_number != 0)
      *outcome = {outcome->bytes, read.error_number, "pread", first + read.bytes,
                  Span() - read.bytes};
    return read;
  }
  Bytes Window() { return {window_.get(), static_cast<std::size_t>(Span())}; }

  // What lies between the pieces is written back as it was read; behind the end of the file it
  // is zeros, as in any hole.
  std::int64_t Patch(Bytes part, Outcome* outcome) {
    const Moved read = ReadWindow(outcome);
    if (read.error_number != 0) return 0;
    const std::int64_t first = batch_[0].offset;
    std::memset(window_.get() + read.bytes, 0, static_cast<std::size_t>(Span() - read.bytes));
    const std::byte* from = part.data();
    for (int i = 0; i < runs_; ++i) {
      const auto bytes = static_cast<std::size_t>(batch_[i].bytes);
      std::memcpy(window_.get() + (batch_[i].offset - first), from, bytes);
      from += bytes;
    }
    ++outcome->patched;
    const Moved moved = access_.body->WriteAt(first, Window());
    if (moved.error_number == 0) return static_cast<std::int64_t>(part.size());
    *outcome = {outcome->bytes, moved.error_number, "pwrite", first + moved.bytes,
                Span() - moved.bytes};
    std::int64_t done = 0;
    for (int i = 0; i < runs_; ++i)
      done += std::clamp<std::int64_t>(first + moved.bytes - batch_[i].offset, 0, batch_[i].bytes);
    return done;
  }

  std::int64_t ReadTogether(Bytes part, Outcome* outcome) {
    const std::int64_t first = batch_[0].offset;
    const Moved read = ReadWindow(outcome);
    std::int64_t done = 0;
    for (int i = 0; i < runs_; ++i) {
      const std::int64_t from = batch_[i].offset - first;
      const std::int64_t there = std::clamp<std::int64_t>(read.bytes - from, 0, batch_[i].bytes);
      std::memcpy(part.data() + done, window_.get() + from, static_cast<std::size_t>(there));
      done += there;
      if (there < batch_[i].bytes) break;
    }
    return done;
  }

  const Access& access_;
  std::optional<Cursor> cursor_;  // null if the view is dense
  std::int64_t at_;
  Run batch_[kBatchRuns];
  int runs_ = 0;
  std::unique_ptr<std::byte[]> window_;
  std::int64_t window_room_ = 0;
};

void MoveAll(const Access& access, Outcome* outcome) {
  const std::int64_t bytes = access.memory.bytes();
  FileSide file(access);
  if (access.memory.contiguous()) {
    outcome->bytes = file.Move({access.memory.data(), static_cast<std::size_t>(bytes)}, outcome);
    return;
  }
  const std::int64_t chunk_bytes = std::min(bytes, kChunkBytes);
  const auto chunk =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(chunk_bytes));
  std::int64_t done = 0;
  while (done < bytes) {
    const std::int64_t asked = std::min(chunk_bytes, bytes - done);
    const Bytes part{chunk.get(), static_cast<std::size_t>(asked)};
    if (access.writes) datatype::Pack(access.memory, done, part);
    const std::int64_t moved = file.Move(part, outcome);
    if (!access.writes) datatype::Unpack(Part(part, 0, moved), done, access.memory);
    done += moved;
    if (moved < asked) break;
  }
  outcome->bytes = done;
}

}  // namespace

Outcome Carry(const Access& access) {
  Outcome outcome;
  const std::int64_t bytes = access.memory.bytes();
  if (bytes == 0) return outcome;
  if (!access.atomic) {
    MoveAll(access, &outcome);
    return outcome;
  }
  const std::int64_t first = access.view->OffsetAt(access.position);
  const std::int64_t span = access.view->OffsetAt(access.position + bytes - 1) + 1 - first;
  if (const int error = access.locks->Lock({first, span}, access.writes); error != 0)
    return {0, error, "lock", first, span};
  MoveAll(access, &outcome);
  if (const int error = access.locks->Unlock(); error != 0 && outcome.error_number == 0)
    outcome = {outcome.bytes, error, "unlock", first, span};
  return outcome;
}

}  // namespace lamina::io
