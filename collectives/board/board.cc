// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/board.h"

#include <sys/mman.h>

#include <utility>

#include "runtime/base/roster.h"

namespace lamina::collective::board {
namespace {

constexpr std::uint64_t kMagic = 0x33647261'6f626c6cull;  // "llboard3"
using memory::WholePages;

// The bytes before the ring.
std::size_t LinesBytes(std::uint32_t ranks) {
  return WholePages(sizeof(BoardHeader) + ranks * (sizeof(Member) + kDepth * sizeof(Post)) +
                    kDepth * (sizeof(Gate) + sizeof(Post)));
}

std::size_t BoardBytes(const Invitation& invitation) {
  return LinesBytes(invitation.ranks) + RingBytes(static_cast<Rank>(invitation.ranks)) +
         kSlots * invitation.slot_bytes;
}

}  // namespace

Result<std::unique_ptr<Board>> Board::Create(Rank ranks, std::uint64_t area_bytes,
                                             NodeMemory* node) {
  Invitation invitation;
  invitation.ranks = static_cast<std::uint32_t>(ranks);
  invitation.slot_bytes = WholePages(area_bytes / kSlots);
  const std::size_t bytes = BoardBytes(invitation);
  Result<memory::MadeSealed> made = memory::MakeSealed("lamina-board", bytes, node);
  if (!made.ok()) return std::move(made).status();
  Result<std::byte*> base = made->memory.Map(0, bytes);
  if (!base.ok()) return std::move(base).status();
  invitation.pid = made->name.pid;
  invitation.descriptor = made->name.descriptor;
  invitation.inode = made->name.inode;
  invitation.offset = made->name.offset;
  invitation.pid_namespace = PidNamespaceOfProc();
  invitation.token = made->token;
  std::unique_ptr<Board> board(new Board(*base, bytes, std::move(made->memory), invitation));
  BoardHeader& header = board->header();
  header.magic = kMagic;
  header.token = invitation.token;
  header.slot_bytes = invitation.slot_bytes;
  header.ranks = invitation.ranks;
  header.holders.store(1);
  return board;
}

Result<std::unique_ptr<Board>> Board::Open(const Invitation& invitation, NodeMemory* node) {
  // Members ask each other's process ids whether they still run.
  if (invitation.pid_namespace == 0 || invitation.pid_namespace != PidNamespaceOfProc())
    return Error(Code::kUnsupported, "a member is in another pid namespace, as in a container");
  const std::size_t bytes = BoardBytes(invitation);
  Result<memory::Sealed> opened = memory::OpenSealed(
      {invitation.pid, invitation.descriptor, invitation.inode, invitation.offset}, bytes, node);
  if (!opened.ok()) return std::move(opened).status();
  Result<std::byte*> base = opened->Map(0, bytes);
  if (!base.ok()) return std::move(base).status();
  const auto& header = *reinterpret_cast<const BoardHeader*>(*base);
  if (header.magic != kMagic || header.token != invitation.token ||
      header.ranks != invitation.ranks || header.slot_bytes != invitation.slot_bytes) {
    munmap(*base, bytes);
    return Error(Code::kUnsupported, "the memory that process %d offers is no board of this call",
                 invitation.pid);
  }
  std::unique_ptr<Board> board(new Board(*base, bytes, *std::move(opened), invitation));
  board->header().holders.fetch_add(1);
  board->CloseInvitation();
  return board;
}

Board::Board(std::byte* base, std::size_t bytes, memory::Sealed memory,
             const Invitation& invitation)
    : base_(base),
      bytes_(bytes),
      memory_(std::move(memory)),
      invitation_(invitation),
      ranks_(static_cast<Rank>(invitation.ranks)) {
  members_ = reinterpret_cast<Member*>(base + sizeof(BoardHeader));
  gates_ = reinterpret_cast<Gate*>(members_ + ranks_);
  verdicts_ = reinterpret_cast<Post*>(gates_ + kDepth);
  posts_ = verdicts_ + kDepth;
  ring_ = base + LinesBytes(invitation.ranks);
  area_ = ring_ + RingBytes(ranks_);
}

Board::~Board() {
  const bool is_last = header().holders.fetch_sub(1) == 1;
  munmap(base_, bytes_);
  if (is_last && memory_ && memory_->in_node_memory()) memory_->Erase(0, bytes_);
}

void Board::CloseInvitation() {
  if (memory_ && !memory_->in_node_memory()) memory_.reset();
}

void Board::Break(Broken why) {
  Broken none = Broken::kNo;
  header().broken.compare_exchange_strong(none, why, std::memory_order_acq_rel);
}

void Board::Break(const Contradiction& found) {
  if (broken()) return;  // The first reason counts, which this member may have found itself.
  member(found.rank).contradiction = found;
  Break(static_cast<Broken>(static_cast<Rank>(Broken::kContradiction) + found.rank));
}

const Contradiction* Board::contradiction() {
  const auto finder = static_cast<Rank>(why_broken()) - static_cast<Rank>(Broken::kContradiction);
  return finder < 0 ? nullptr : &member(finder).contradiction;
}

void Board::BreakIfDead(Number number) {
  for (Rank rank = 0; rank < ranks_; ++rank) {
    Member& one = member(rank);
    if (one.finished.load(std::memory_order_acquire) < number &&
        !memory::IsRunning(one.pid.load(std::memory_order_relaxed)))
      Break();
  }
}

}  // namespace lamina::collective::board
