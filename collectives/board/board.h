// SPDX-License-Identifier: BSD-3-Clause
// The memory that the members of one communicator share: where each posts what the others read.
//
// Operations on a communicator are numbered from 1, alike on all members. Operation n uses the
// lines of index n % kDepth, and for longer data a stretch of the ring (ring.h), slot n % kSlots of
// the area, or a cell of that slot. Nothing but the count of arrivals is ever cleared: a number
// that is at least n says that this was done for operation n. README.md has the byte table.
//
// The memory is sealed (runtime/memory/sealed_memory.h): a part of the node's memory, or else a
// file that the other members open for as long as its maker holds the descriptor.
//
// Ownership:  a board is unmapped when it is destroyed; the other members keep their mappings. The
//             last of them gives its part of the node's memory back.
// Allocation: at creation only. Pages of the area exist once they are touched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "collectives/board/terms.h"
#include "collectives/board/tuning.h"
#include "runtime/base/ids.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/sharing.h"
#include "runtime/base/status.h"
#include "runtime/memory/sealed_memory.h"

namespace lamina::collective::board {

using Number = std::uint64_t;  // the number of an operation

inline constexpr std::size_t kLineBytes = 64;
// Processors fetch lines in pairs, so what different members write must not share a pair.
inline constexpr std::size_t kPairBytes = 2 * kLineBytes;
// The data that fits a post.
inline constexpr std::size_t kInlineBytes = 48;

constexpr std::size_t RingBytes(Rank ranks) {
  return std::min(static_cast<std::size_t>(ranks) * kRingBytesPerMember, kRingBytesMax);
}

// What one member has to say in one operation. That member alone writes it.
struct alignas(kLineBytes) Post {
  std::atomic<Number> number;
  // The terms of the call. Their spare bits say how many operations ago the last one was that all
  // members have finished, or kLongAgo if that is too many to fit.
  Terms said;
  static constexpr Number kLongAgo = (Number{1} << kSpareBits) - 1;
  std::byte data[kInlineBytes];
};
static_assert(sizeof(Post) == kLineBytes);

// Where members count themselves in. It is apart from the verdict, which those who wait look at.
struct alignas(kLineBytes) Gate {
  static constexpr int kRanksBits = 16;
  // The lower kRanksBits count the members that have arrived; the bits above them are the sum of
  // their mixed terms.
  std::atomic<std::uint64_t> arrived;
};

// Two members that are in different calls.
struct Contradiction {
  Rank rank, other;
  Terms terms, others;
};

struct alignas(kPairBytes) Member {
  std::atomic<Number> finished;  // it reads nothing of this operation or earlier ones any more
  std::atomic<std::uint32_t> asleep;
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint64_t> probe;  // where a copy of the board's token lies in its own memory
  // In a reduction straight between the buffers: how many elements of its slice are where they
  // belong, and how many more are only in its own result.
  std::int64_t settled;
  std::int64_t folded;
  std::atomic<Terms> terms;        // the terms of the call that it is in, or was in last
  std::atomic<Number> waits_long;  // the last operation in which it went to sleep
  Contradiction contradiction;     // what it found, if that broke the board
};

// What has broken a board. Values from kContradiction on mean that member (value - kContradiction)
// found a contradiction.
enum class Broken : std::uint32_t { kNo, kDeath, kContradiction };

struct alignas(kPairBytes) BoardHeader {
  std::uint64_t magic;
  std::uint64_t token;
  std::uint64_t slot_bytes;
  std::uint32_t ranks;
  std::atomic<Broken> broken;           // once it is broken, nobody waits here any more
  std::atomic<std::uint32_t> sleepers;  // how many members are asleep
  std::atomic<std::uint32_t> holders;   // how many members have it mapped
  // The operation in which some member could no longer reach another's memory, after which nobody
  // tries to. 0: every member can.
  std::atomic<Number> denied;
};

// What the others need to open a board. It is sent as plain bytes.
struct Invitation {
  std::uint64_t token = 0;  // 0: there is no board
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t slot_bytes = 0;
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint32_t pid_namespace = 0;
  std::uint32_t ranks = 0;
  Sharing sharing = Sharing::kExclusive;  // the maker's opinion, which becomes everybody's
};

class Board {
 public:
  // `node` may be null, and must outlive the board. kResource: no memory; the message says what was
  // asked for.
  static Result<std::unique_ptr<Board>> Create(Rank ranks, std::uint64_t area_bytes,
                                               NodeMemory* node);
  // Fails if it cannot be opened from here (permissions, another pid namespace, its maker is gone).
  static Result<std::unique_ptr<Board>> Open(const Invitation& invitation, NodeMemory* node);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  const Invitation& invitation() const { return invitation_; }
  // From now on nobody can open it, unless it is in the node's memory.
  void CloseInvitation();

  BoardHeader& header() { return *reinterpret_cast<BoardHeader*>(base_); }
  Member& member(Rank rank) { return members_[rank]; }
  Post& post(Rank rank, Number number) {
    return posts_[(number % kDepth) * static_cast<Number>(ranks_) + static_cast<Number>(rank)];
  }
  Gate& gate(Number number) { return gates_[number % kDepth]; }
  // What the member that arrives last says to all.
  Post& verdict(Number number) { return verdicts_[number % kDepth]; }
  std::byte* ring() { return ring_; }
  std::byte* slot(Number number) { return area_ + (number % kSlots) * invitation_.slot_bytes; }
  std::size_t slot_bytes() const { return invitation_.slot_bytes; }
  Rank ranks() const { return ranks_; }
  bool broken() { return why_broken() != Broken::kNo; }
  Broken why_broken() { return header().broken.load(std::memory_order_acquire); }
  // Breaks the board, because a member died or because member found.rank found a contradiction:
  // nobody waits any longer. Only the first reason is kept.
  void Break() { Break(Broken::kDeath); }
  void Break(const Contradiction& found);
  // The contradiction that broke it, or null.
  const Contradiction* contradiction();

  // Breaks the board if a member that has not finished `number` is dead. Takes a system call for
  // each such member.
  void BreakIfDead(Number number);

 private:
  Board(std::byte* base, std::size_t bytes, memory::Sealed memory, const Invitation& invitation);
  void Break(Broken why);

  std::byte* const base_;
  const std::size_t bytes_;
  // The memory can be opened or erased by it; it is empty when neither is left to do.
  std::optional<memory::Sealed> memory_;
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
