// SPDX-License-Identifier: BSD-3-Clause
// A queue of frames in one block of memory that is used in a circle.
//
// Allocation: none after construction.
// Threads:    one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "runtime/memory/copy.h"
#include "transports/transport.h"

namespace lamina::self {

class FrameQueue {
 public:
  // A frame always fits into an empty queue if its payload is at most `queue_bytes` / 4.
  explicit FrameQueue(std::uint32_t queue_bytes)
      : bytes_(queue_bytes / kAlign * kAlign), block_(new std::byte[bytes_]) {}

  bool empty() const { return frames_ == 0; }

  // Copies `frame`. False: there is no room.
  bool Push(const transport::Frame& frame) {
    const std::size_t room = RoomOf(frame.payload.size());
    std::size_t at = tail_;
    if (frames_ == 0) {
      at = head_ = wrap_ = 0;
    } else if (tail_ > head_ ? bytes_ - tail_ < room : head_ - tail_ < room) {
      // There is no room behind the last frame, so the room before the first one is tried.
      if (tail_ <= head_ || head_ < room) return false;
      wrap_ = tail_;
      at = 0;
    }
    if (frames_ == 0 && room > bytes_) return false;
    const Entry entry{frame.header, frame.payload.size()};
    std::memcpy(&block_[at], &entry, sizeof entry);
    if (!frame.payload.empty())
      memory::CopyLong(&block_[at + sizeof entry], frame.payload.data(), frame.payload.size());
    tail_ = at + room;
    ++frames_;
    return true;
  }

  // Hands the oldest frame to `take(header, payload)`, which may push, then drops it. The queue
  // must not be empty.
  template <class Take>
  void Pop(Take&& take) {
    if (head_ == wrap_ && wrap_ != 0) head_ = wrap_ = 0;
    Entry entry;
    std::memcpy(&entry, &block_[head_], sizeof entry);
    take(entry.header, std::span<const std::byte>(&block_[head_ + sizeof entry], entry.bytes));
    head_ += RoomOf(entry.bytes);
    --frames_;
  }

 private:
  struct Entry {
    transport::Header header;
    std::size_t bytes;
  };
  static constexpr std::size_t kAlign = 8;
  static std::size_t RoomOf(std::size_t payload_bytes) {
    return sizeof(Entry) + (payload_bytes + kAlign - 1) / kAlign * kAlign;
  }

  // Frames lie in [head_, tail_), or in [head_, wrap_) and [0, tail_) once it has turned (wrap_ !=
  // 0).
  const std::size_t bytes_;
  const std::unique_ptr<std::byte[]> block_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t wrap_ = 0;
  std::size_t frames_ = 0;
};

}  // namespace lamina::self
