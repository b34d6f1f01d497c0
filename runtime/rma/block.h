// SPDX-License-Identifier: BSD-3-Clause
// The control memory of a window: what its members on one node share beside the window itself.
//
// It is a sealed memfd that the first of these members makes, or private memory of a process that
// shares with nobody. README.md has the byte table. A member's record is written once, before
// anybody else looks at it; the words of its locks are written by all.
//
// Ownership: a block unmaps its memory when it is destroyed; the other members keep theirs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/status.h"
#include "runtime/memory/sealed_memory.h"
#include "runtime/rma/attach.h"
#include "runtime/rma/lock.h"

namespace lamina::rma {

inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::uint32_t kZones = 16;

// What waits at a member, for those who release locks.
inline constexpr std::uint32_t kSleeps = 1;    // this process waits and is to be nudged
inline constexpr std::uint32_t kFarWaits = 2;  // it queues for locks of processes on other nodes

struct alignas(kLineBytes) BlockHeader {
  std::uint64_t token;
  std::uint64_t members;
  alignas(kLineBytes) NodeWord word;
  std::atomic<std::uint32_t> waiters;  // how many bits are set in all members' `waits`
  // 1: somebody who held a lock here, or queued for one, is gone, so some lock is never released.
  std::atomic<std::uint32_t> broken;
};

struct alignas(kLineBytes) MemberRecord {
  std::uint64_t address;  // of its window, in its own memory
  std::int64_t size;      // of its window
  std::int64_t disp_unit;
  std::int64_t shared_offset;  // of its window in the memory that the node shares; -1: not there
  std::int32_t pid;
  std::uint64_t probe;  // where the block's token lies in its own memory
  alignas(kLineBytes) TicketLock lock;
  std::atomic<std::uint32_t> waits;   // kSleeps, kFarWaits
  std::atomic<std::uint32_t> holder;  // rank in the window of who holds it exclusively, plus 1
  alignas(kLineBytes) std::atomic<std::uint32_t> zones[kZones];  // 0, or the holder's index plus 1
};

class Block {
 public:
  // `dynamic`: with tables of attached memory.
  static std::size_t BytesFor(std::size_t members, bool dynamic);
  // Private memory for one member, or nothing if there is none.
  static std::unique_ptr<Block> MakePrivate(bool dynamic);
  // Maps the memory of a node.
  static Result<std::unique_ptr<Block>> Map(const memory::Sealed& shared, std::size_t members,
                                            bool dynamic);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  BlockHeader& header() { return *reinterpret_cast<BlockHeader*>(base_); }
  MemberRecord& member(std::size_t index) {
    return reinterpret_cast<MemberRecord*>(base_ + sizeof(BlockHeader))[index];
  }
  AttachTable& attached(std::size_t index) {
    return reinterpret_cast<AttachTable*>(base_ + BytesFor(members_, false))[index];
  }
  std::size_t members() const { return members_; }

 private:
  Block(std::byte* base, std::size_t bytes, std::size_t members)
      : base_(base), bytes_(bytes), members_(members) {}

  std::byte* const base_;
  const std::size_t bytes_;
  const std::size_t members_;
};

}  // namespace lamina::rma
