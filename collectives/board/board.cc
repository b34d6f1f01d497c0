// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/board.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/memory/sealed_memory.h"

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

Result<std::unique_ptr<Board>> Board::Create(Rank ranks, std::uint64_t area_bytes) {
  Invitation invitation;
  invitation.ranks = static_cast<std::uint32_t>(ranks);
  invitation.slot_bytes = WholePages(area_bytes / kSlots);
  const std::size_t bytes = BoardBytes(invitation);
  Result<Descriptor> made = memory::MakeSealed("lamina-board", bytes);
  if (!made.ok()) return std::move(made).status();
  Result<memory::SealedName> name = memory::NameOf(*made);
  if (!name.ok()) return std::move(name).status();
  Result<std::uint64_t> token = memory::RandomToken();
  if (!token.ok()) return std::move(token).status();
  Result<std::byte*> base = memory::MapShared(*made, 0, bytes);
  if (!base.ok()) return std::move(base).status();
  invitation.pid = name->pid;
  invitation.inode = name->inode;
  invitation.token = *token;
  invitation.descriptor = made->Release();
  std::unique_ptr<Board> board(new Board(*base, bytes, invitation.descriptor, invitation));
  BoardHeader& header = board->header();
  header.magic = kMagic;
  header.token = invitation.token;
  header.slot_bytes = invitation.slot_bytes;
  header.ranks = invitation.ranks;
  return board;
}

Result<std::unique_ptr<Board>> Board::Open(const Invitation& invitation) {
  const std::size_t bytes = BoardBytes(invitation);
  Result<Descriptor> opened =
      memory::OpenSealed({invitation.pid, invitation.descriptor, invitation.inode}, bytes);
  if (!opened.ok()) return std::move(opened).status();
  Result<std::byte*> base = memory::MapShared(*opened, 0, bytes);
  if (!base.ok()) return std::move(base).status();
  std::unique_ptr<Board> board(new Board(*base, bytes, -1, invitation));
  const BoardHeader& header = board->header();
  if (header.magic != kMagic || header.token != invitation.token ||
      header.ranks != invitation.ranks || header.slot_bytes != invitation.slot_bytes)
    return Error(Code::kUnsupported, "the memory that process %d offers is no board of this call",
                 invitation.pid);
  return board;
}

Board::Board(std::byte* base, std::size_t bytes, int descriptor, const Invitation& invitation)
    : base_(base),
      bytes_(bytes),
      descriptor_(descriptor),
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
  munmap(base_, bytes_);
  CloseInvitation();
}

void Board::CloseInvitation() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
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
