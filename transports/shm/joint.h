// SPDX-License-Identifier: BSD-3-Clause
// Two processes copying one long message: the receiver reads it from the front, chunk by chunk, and
// the sender, if it happens to be turning its progress, writes it from the back, until they meet.
//
// The receiver invites through its ring to the sender and begins at once. Nobody waits for an
// answer: a sender that computes finds the invitation later, when nothing is left to do. One word
// in that ring's Joint settles which process copies which chunk, so each is copied once. Before the
// receiver returns, it waits for the chunks that the sender has claimed, at most two.
//
// Threads: the receiver and the sender, in two processes. Allocation: none.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/memory/sealed_memory.h"
#include "transports/shm/tuning.h"

namespace lamina::shm {

// Lies in the ring's memory; both processes write to it.
struct alignas(64) Joint {
  std::atomic<std::uint64_t> claims;    // serial (32 bits) | chunks from the front (16) | back (16)
  std::atomic<std::uint32_t> finished;  // chunks from the back
  std::atomic<std::uint32_t> failed;    // a chunk from the back could not be written
};
static_assert(sizeof(Joint) == 64);

// What the receiver tells the sender. Addresses: `from` is the sender's, `to` the receiver's.
struct Invitation {
  std::uint64_t from;
  std::uint64_t to;
  std::uint64_t bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t serial;

  std::uint64_t chunks() const { return (bytes + chunk_bytes - 1) / chunk_bytes; }
};

inline constexpr std::uint32_t kChunksMax = 0xffff;
inline constexpr std::uint32_t kNoChunk = UINT32_MAX;

// Half of the message, within the bounds of what the kernel copies well.
inline std::uint32_t ChunkBytes(std::uint64_t bytes) {
  const std::uint64_t half = memory::WholePages((bytes + 1) / 2);
  return static_cast<std::uint32_t>(std::clamp(half, kChunkBytesMin, kChunkBytesMax));
}

// Takes the next chunk from the front or the back. kNoChunk: all are claimed, or this message is
// over.
inline std::uint32_t Claim(Joint& joint, std::uint32_t serial, std::uint32_t chunks, bool front) {
  std::uint64_t word = joint.claims.load(std::memory_order_acquire);
  for (;;) {
    const std::uint32_t in_front = word >> 16 & 0xffff, behind = word & 0xffff;
    if (word >> 32 != serial || in_front + behind >= chunks) return kNoChunk;
    if (joint.claims.compare_exchange_weak(word, word + (front ? 1u << 16 : 1u)))
      return front ? in_front : chunks - 1 - behind;
  }
}

// How many chunks have been claimed from the back.
inline std::uint32_t ClaimedBehind(const Joint& joint) {
  return joint.claims.load(std::memory_order_acquire) & 0xffff;
}

}  // namespace lamina::shm
