// SPDX-License-Identifier: BSD-3-Clause
// One ordered pair of processes: a ring of 64-byte cells and an area for longer payloads, in shared
// memory. One process writes, one reads; README.md has the byte table.
//
// A cell is one cache line and carries its own stamp, so a small frame costs the writer one line
// written and the reader one line read; there is no tail index. The reader gives cells and area
// back through a credit line, which the writer reads only when the credit it knows of is used up.
//
// The first frames of a ring's life lie in its head, so that peers who say little to each other
// take little memory: heads lie side by side, the cells that come after have pages of their own.
//
// Ownership:  neither class owns the memory. A ring starts as zeros.
// Threads:    one writer, one reader.
// Allocation: none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "runtime/memory/copy.h"
#include "runtime/memory/prefetch.h"
#include "transports/shm/joint.h"
#include "transports/shm/tuning.h"
#include "transports/transport.h"

namespace lamina::shm {

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::uint32_t kNearBytesMax = 40;  // payload that fits into the cell

struct alignas(kLineBytes) Cell {
  std::atomic<std::uint64_t> word;  // high half: stamp, frame number + 1; low half: payload bytes
  transport::Header header;
  std::byte near[kNearBytesMax];  // the payload, or a Far
};
static_assert(sizeof(Cell) == kLineBytes);

// Says where a payload longer than kNearBytesMax lies.
struct Far {
  std::uint64_t end;     // area bytes handed out since the ring began, this payload included
  std::uint32_t offset;  // into the area
  std::uint32_t reserved;
};

// The reader alone writes this.
struct alignas(kLineBytes) Credit {
  std::atomic<std::uint64_t> frames;      // how many were taken out since the ring began
  std::atomic<std::uint64_t> area_bytes;  // how many were given back since the ring began
};
static_assert(sizeof(Credit) == kLineBytes);

// This value in place of a payload's length means that the cell holds an Invitation, which is for
// the transport itself.
inline constexpr std::uint32_t kInvitationMark = UINT32_MAX;
static_assert(sizeof(Invitation) <= kNearBytesMax);

// A ring's head has room for this many frames, a power of two.
inline constexpr std::uint32_t kFirstCells = 16;

struct Head {
  Credit credit;
  Joint joint;
  Cell first[kFirstCells];  // used once
};
static_assert(sizeof(Head) == (2 + kFirstCells) * kLineBytes);

struct Geometry {
  std::uint32_t cells = 128;               // a power of two
  std::uint32_t area_bytes = 512u * 1024;  // a multiple of kLineBytes

  // The pages of the ring hold the cells, then the area.
  std::size_t AreaOffset() const { return std::size_t{cells} * sizeof(Cell); }
  std::size_t RingBytes() const { return AreaOffset() + area_bytes; }
  // A frame of half the area always fits into an empty one, wherever it begins.
  std::uint32_t FrameBytesMax() const { return area_bytes / 2; }
};

class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(Head* head, std::byte* ring, const Geometry& geometry,
             std::uint32_t fetch_bytes_max = kFetchBytesMax)
      : cells_(head->first),
        mask_(kFirstCells - 1),
        limit_(kFirstCells),
        cells_count_(geometry.cells),
        area_bytes_(geometry.area_bytes),
        fetch_bytes_max_(fetch_bytes_max),
        area_(ring + geometry.AreaOffset()),
        credit_(&head->credit) {}

  // Behaves as if `frames` had been written before, for tests of what happens late in a ring's
  // life.
  static RingWriter StartingAt(Head* head, std::byte* ring, const Geometry& geometry,
                               std::uint64_t frames) {
    RingWriter writer(head, ring, geometry);
    writer.next_ = writer.limit_ = frames;
    writer.LeaveHead();
    return writer;
  }

  // False: no room. The frame is visible to the reader on return. Payload: at most FrameBytesMax().
  bool Write(const transport::Frame& frame) {
    const std::size_t bytes = frame.payload.size();
    if (next_ == limit_ && !Refill()) [[unlikely]]
      return false;
    Cell& cell = cells_[next_ & mask_];
    if (bytes <= kNearBytesMax) {
      // Behind the last cell this is a line of the area or of another head, which does no harm.
      memory::WillWrite(&cell + kCellsAhead);
      memory::CopyShort(cell.near, frame.payload.data(), bytes);
    } else if (!WriteFar(cell, frame.payload)) {
      return false;
    }
    cell.header = frame.header;
    ++next_;
    cell.word.store(next_ << 32 | bytes, std::memory_order_release);
    if (bytes > kNearBytesMax && bytes <= fetch_bytes_max_)
      FetchArea(static_cast<std::uint32_t>(bytes));
    return true;
  }

  // False: no room.
  bool Invite(const Invitation& invitation) {
    if (next_ == limit_ && !Refill()) return false;
    Cell& cell = cells_[next_ & mask_];
    std::memcpy(cell.near, &invitation, sizeof invitation);
    ++next_;
    cell.word.store(next_ << 32 | kInvitationMark, std::memory_order_release);
    return true;
  }

  // No further frame is accepted.
  void Close() {
    closed_ = true;
    limit_ = next_;
  }

 private:
  bool Refill() {
    if (closed_) return false;
    if (next_ == kFirstCells) LeaveHead();
    const std::uint64_t read = credit_->frames.load(std::memory_order_acquire);
    limit_ = std::max(next_, read + cells_count_);  // the head may hold more than all cells do
    return next_ != limit_;
  }

  void LeaveHead() {
    cells_ = reinterpret_cast<Cell*>(area_) - cells_count_;
    mask_ = cells_count_ - 1;
  }

  bool WriteFar(Cell& cell, std::span<const std::byte> payload) {
    const std::uint32_t room = (static_cast<std::uint32_t>(payload.size()) + 63u) & ~63u;
    if (area_at_ + room > area_step_end_ || !Fits(room)) {
      area_freed_ = credit_->area_bytes.load(std::memory_order_acquire);
      if (area_freed_ == area_used_) area_at_ = 0;
      if (!Fits(room)) return false;
      area_step_end_ = area_at_ + std::max(room, kAreaStepBytes);
    }
    const bool wraps = area_at_ + room > area_bytes_;
    const std::uint32_t offset = wraps ? 0 : area_at_;
    if (wraps) area_step_end_ = std::max(room, kAreaStepBytes);
    area_used_ += room + (wraps ? area_bytes_ - area_at_ : 0);
    area_at_ = offset + room;
    memory::CopyLong(area_ + offset, payload.data(), payload.size());
    const Far far{area_used_, offset, 0};
    std::memcpy(cell.near, &far, sizeof far);
    return true;
  }

  void FetchArea(std::uint32_t bytes) const {
    const std::byte* const end = area_ + std::min(area_at_ + bytes, area_bytes_);
    for (const std::byte* line = area_ + area_at_; line < end; line += kLineBytes)
      memory::WillWrite(line);
  }

  // True if `room` bytes are free, and also what would be skipped at the end of the area.
  bool Fits(std::uint32_t room) const {
    const std::uint32_t skipped = area_at_ + room > area_bytes_ ? area_bytes_ - area_at_ : 0;
    return area_used_ - area_freed_ + room + skipped <= area_bytes_;
  }

  Cell* cells_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t next_ = 0;   // frames written
  std::uint64_t limit_ = 0;  // how many may be written with the credit known
  std::uint32_t cells_count_ = 0;
  bool closed_ = false;
  std::uint32_t area_bytes_ = 0;
  std::uint32_t area_at_ = 0;                     // where the next payload would begin
  std::uint32_t area_step_end_ = kAreaStepBytes;  // from here on it asks for credit again
  std::uint32_t fetch_bytes_max_ = 0;
  std::byte* area_ = nullptr;
  std::uint64_t area_used_ = 0;   // handed out since the ring began, skipped bytes included
  std::uint64_t area_freed_ = 0;  // given back, as far as the writer knows
  Credit* credit_ = nullptr;
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(Head* head, std::byte* ring, const Geometry& geometry)
      : cell_(head->first),
        cells_(head->first),
        mask_(kFirstCells - 1),
        quarter_mask_(kFirstCells - 1),
        area_bytes_(geometry.area_bytes),
        area_(ring + geometry.AreaOffset()),
        credit_(&head->credit),
        cells_count_(geometry.cells) {}

  static RingReader StartingAt(Head* head, std::byte* ring, const Geometry& geometry,
                               std::uint64_t frames) {
    RingReader reader(head, ring, geometry);
    reader.next_ = frames;
    reader.LeaveHead();
    return reader;
  }

  // True if a frame is there.
  bool Ready() const { return IsNext(cell_->word.load(std::memory_order_acquire)); }

  // Hands up to `frames_max` frames to `take(header, payload)` or `invited(invitation)` and returns
  // how many. A cell that makes no sense (the writer ran amok) ends the ring: corrupt() is true
  // from then on.
  template <class Take, class Invited>
  std::uint32_t Drain(std::uint32_t frames_max, Take&& take, Invited&& invited) {
    std::uint32_t taken = 0;
    while (taken < frames_max) {
      const std::uint64_t word = cell_->word.load(std::memory_order_acquire);
      if (!IsNext(word)) break;
      memory::WillRead(&cells_[(next_ + 1) & mask_]);  // it arrives while this frame is taken
      const std::uint32_t bytes = static_cast<std::uint32_t>(word);
      if (bytes <= kNearBytesMax) [[likely]] {
        take(cell_->header, std::span<const std::byte>(cell_->near, bytes));
      } else if (bytes == kInvitationMark) {
        Invitation invitation;
        std::memcpy(&invitation, cell_->near, sizeof invitation);
        invited(invitation);
      } else {
        Far far;
        std::memcpy(&far, cell_->near, sizeof far);
        if (far.offset > area_bytes_ || bytes > area_bytes_ - far.offset) {
          corrupt_ = true;
          break;
        }
        take(cell_->header, std::span<const std::byte>(area_ + far.offset, bytes));
        credit_->area_bytes.store(far.end, std::memory_order_release);
      }
      ++taken;
      ++next_;
      cell_ = &cells_[next_ & mask_];
      // Credit is returned often enough that the writer need not stop, and rarely enough that the
      // line mostly stays with the reader.
      if ((next_ & quarter_mask_) == 0) {
        credit_->frames.store(next_, std::memory_order_release);
        if (next_ == kFirstCells) LeaveHead();
      }
    }
    if (taken != 0) credit_->frames.store(next_, std::memory_order_release);
    return taken;
  }

  bool corrupt() const { return corrupt_; }

 private:
  bool IsNext(std::uint64_t word) const {
    return static_cast<std::uint32_t>(word >> 32) == static_cast<std::uint32_t>(next_ + 1);
  }

  void LeaveHead() {
    cells_ = reinterpret_cast<Cell*>(area_) - cells_count_;
    mask_ = cells_count_ - 1;
    quarter_mask_ = cells_count_ >= 4 ? cells_count_ / 4 - 1 : 0;
    cell_ = &cells_[next_ & mask_];
  }

  Cell* cell_ = nullptr;  // where the next frame will be
  std::uint64_t next_ = 0;
  Cell* cells_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint32_t quarter_mask_ = 0;
  std::uint32_t area_bytes_ = 0;
  std::byte* area_ = nullptr;
  Credit* credit_ = nullptr;
  std::uint32_t cells_count_ = 0;
  bool corrupt_ = false;
};

}  // namespace lamina::shm
