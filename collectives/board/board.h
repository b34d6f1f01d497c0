// SPDX-License-Identifier: BSD-3-Clause
// The memory that the members of one communicator share: where each posts what the others read.
//
// Operations on a communicator are numbered from 1, alike on all members. Operation n uses set
// n % kDepth of the lines below, and a stretch of the ring (ring.h) or slot n % kSlots of the area,
// whole or half of it. Nothing is ever cleared but the count of arrivals: a number that is at least
// n says "done for operation n". README.md has the byte table.
//
// The memory is a sealed memfd without a name. The others open it as /proc/PID/fd/FD, as long as
// the maker holds the descriptor.
//
// Ownership:  unmapped on destruction; the others keep their mappings.
// Allocation: at creation only. Pages of the area exist once they are touched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "collectives/board/terms.h"
#include "runtime/base/ids.h"
#include "runtime/base/status.h"

namespace lamina::collective::board {

using Number = std::uint64_t;  // of an operation

inline constexpr std::size_t kLineBytes = 64;
// Processors fetch a line's other half of a pair as well: what several write must not share one.
inline constexpr std::size_t kPairBytes = 2 * kLineBytes;
// How far a root, or a member that only contributes, runs ahead with a few bytes. 16 ranks on two
// CPUs, bcast of 8, us: 8 2.4, 64 0.46, 128 0.35, 256 0.28 for twice the memory.
inline constexpr Number kDepth = 128;
inline constexpr Number kSlots = 4;
// More pieces of a broadcast than there are slots take turns in halves of slots: lines that come
// around again too soon are still in others' caches and have to be taken back. 1 MiB to a processor
// that shares a cache, through 4 times 64 KiB 64 us, through 8 times 45.
inline constexpr Number kCells = 2;
inline constexpr std::size_t kInlineBytes = 48;

// A row of more members is longer, but what goes around should stay in their caches.
constexpr std::size_t RingBytes(Rank ranks) {
  return std::min<std::size_t>(static_cast<std::size_t>(ranks) * (4 << 10), 64 << 10);
}

// What one member has to say in one operation. Written by that member alone.
struct alignas(kLineBytes) Post {
  std::atomic<Number> number;
  // Terms of the call. In their spare bits: how many operations ago the last one was that no member
  // has more to read of; kLongAgo if more than fit.
  Terms said;
  static constexpr Number kLongAgo = (Number{1} << kSpareBits) - 1;
  std::byte data[kInlineBytes];
};
static_assert(sizeof(Post) == kLineBytes);

// Who has arrived; apart from the line that the waiting look at.
struct alignas(kLineBytes) Gate {
  static constexpr int kRanksBits = 16;
  std::atomic<std::uint64_t> arrived;  // how many; above kRanksBits the sum of their terms, mixed
};

// Two members that are in different calls.
struct Contradiction {
  Rank rank, other;
  Terms terms, others;
};

struct alignas(kPairBytes) Member {
  std::atomic<Number> finished;  // reads nothing of this operation or earlier ones any more
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> probe;  // where its memory holds the board's token, to try reaching it
  // Of the reduction that goes straight between the buffers: how much of its slice is where it
  // belongs, and how much more is folded into its own result only. Elements.
  std::int64_t settled;
  std::int64_t folded;
  std::atomic<Terms> terms;        // of the call that it is in, or was in last
  std::atomic<Number> waits_long;  // the last operation in which it went to sleep
  Contradiction contradiction;     // that it found, if that broke the board
};

// By what. From kContradiction on: by one that member (why - kContradiction) found.
enum class Broken : std::uint32_t { kNo, kDeath, kContradiction };

struct alignas(kPairBytes) BoardHeader {
  std::uint64_t magic;
  std::uint64_t token;
  std::uint64_t slot_bytes;
  std::uint32_t ranks;
  std::atomic<Broken> broken;           // nothing here can be waited for any more
  std::atomic<std::uint32_t> sleepers;  // members that are asleep
  // The operation in which some member could not reach another's memory any more; it is the last
  // that tries to. 0: none.
  std::atomic<Number> denied;
};

// What the others need to open a board. Plain bytes.
struct Invitation {
  std::uint64_t token = 0;  // 0: there is no board
  std::uint64_t inode = 0;
  std::uint64_t slot_bytes = 0;
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint32_t ranks = 0;
  std::uint32_t crowded = 0;  // the maker's view of the node, which becomes everybody's
};

class Board {
 public:
  // kResource, kUnsupported: no memory or no memfd; the message says what was asked for.
  static Result<std::unique_ptr<Board>> Create(Rank ranks, std::uint64_t area_bytes);
  // Fails if it cannot be opened from here (permissions, another pid namespace, its maker is gone).
  static Result<std::unique_ptr<Board>> Open(const Invitation& invitation);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  const Invitation& invitation() const { return invitation_; }
  // Nobody opens it from now on.
  void CloseInvitation();

  BoardHeader& header() { return *reinterpret_cast<BoardHeader*>(base_); }
  Member& member(Rank rank) { return members_[rank]; }
  Post& post(Rank rank, Number number) {
    return posts_[(number % kDepth) * static_cast<Number>(ranks_) + static_cast<Number>(rank)];
  }
  Gate& gate(Number number) { return gates_[number % kDepth]; }
  // What the last to arrive says to all.
  Post& verdict(Number number) { return verdicts_[number % kDepth]; }
  std::byte* ring() { return ring_; }
  std::byte* slot(Number number) { return area_ + (number % kSlots) * invitation_.slot_bytes; }
  std::size_t slot_bytes() const { return invitation_.slot_bytes; }
  Rank ranks() const { return ranks_; }
  bool broken() { return why_broken() != Broken::kNo; }
  Broken why_broken() { return header().broken.load(std::memory_order_acquire); }
  // Ends the waiting of all: a member died, or `rank` found a contradiction. Only the first counts.
  void Break() { Break(Broken::kDeath); }
  void Break(const Contradiction& found);
  // What broke it; null: nothing did, or a death.
  const Contradiction* contradiction();

  // Breaks the board if a member that has not finished `number` is dead. A system call a member.
  void LookAfter(Number number);

 private:
  Board(std::byte* base, std::size_t bytes, int descriptor, const Invitation& invitation);
  void Break(Broken why);

  std::byte* const base_;
  const std::size_t bytes_;
  int descriptor_;
  const Invitation invitation_;
  const Rank ranks_;
  Member* members_;
  Gate* gates_;
  Post* verdicts_;
  Post* posts_;
  std::byte* ring_;
  std::byte* area_;
};

}  // namespace lamina::collective::board
