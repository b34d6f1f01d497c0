// SPDX-License-Identifier: BSD-3-Clause
// The protocols of locks, over words in memory that several processes share. They are pure: none
// waits, and each says whether it holds.
//
// A TicketLock belongs to one target. Tickets are served in order, so nobody starves, and a lock
// that is free takes two or three instructions.
//
// A NodeWord belongs to the members of one node: holders of lock_all on the one side, holders of
// an exclusive lock of any member on the other. So lock_all is one instruction however many members
// there are. One group at a time is inside; the last to leave lets in all who wait for the other.
// Nobody is overtaken by more than one phase.
//
// Two rules keep nested locks from standing still. The node's word comes before the ticket, and a
// process that holds or has asked for another lock on the node enters while its group is inside,
// whoever waits.
#pragma once

#include <atomic>
#include <cstdint>

namespace lamina::rma {

struct TicketLock {
  std::atomic<std::uint32_t> next{0};   // the next ticket
  std::atomic<std::uint32_t> read{0};   // the ticket that may read
  std::atomic<std::uint32_t> write{0};  // the ticket that may write

  std::uint32_t Draw() { return next.fetch_add(1); }
  // Asks whether it is the turn of the ticket. A reader that has got true lets in the next one, so
  // it must not ask again.
  bool TryShared(std::uint32_t ticket) {
    if (read.load() != ticket) return false;
    read.fetch_add(1);
    return true;
  }
  bool TryExclusive(std::uint32_t ticket) const { return write.load() == ticket; }
  // These are for people to see: how many readers are inside, and whether anybody has it.
  std::uint32_t Readers() const {
    const std::uint32_t left = write.load();
    const auto inside = static_cast<std::int32_t>(read.load() - left);
    return inside > 0 ? static_cast<std::uint32_t>(inside) : 0;
  }
  bool IsTaken() const { return next.load() != write.load(); }
  void ReleaseShared() { write.fetch_add(1); }
  void ReleaseExclusive() {
    write.fetch_add(1);
    read.fetch_add(1);
  }
};

enum class Side : std::uint8_t { kAll = 0, kExclusive = 1 };

class NodeWord {
 public:
  // Enters, or is counted among those who wait. In the latter case the answer is false, and
  // `*phase` is the phase that lets the caller in.
  bool Enter(Side side, bool nested, std::uint16_t* phase);
  // True once that phase has come. The caller is inside then.
  bool HasCome(std::uint16_t phase) const {
    const auto now = static_cast<std::uint16_t>(word_.load());
    return static_cast<std::int16_t>(static_cast<std::uint16_t>(now - phase)) >= 0;
  }
  void Leave();
  // How many of the side are inside, for people to see.
  std::uint32_t Inside(Side side) const;

 private:
  // The lowest bit of the phase says which side is inside.
  struct Fields {
    std::uint16_t phase;
    std::uint16_t inside;
    std::uint16_t waiting[2];  // by side
  };
  static Fields Unpack(std::uint64_t word);
  static std::uint64_t Pack(const Fields& fields);

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace lamina::rma
