// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/text.h"

namespace lamina::collective::board {
namespace {

constexpr std::uint64_t kMagic = 0x33647261'6f626c6cull;  // "llboard3"
constexpr std::size_t kPageBytes = 4096;

std::size_t WholePages(std::size_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }

// Everything before the ring.
std::size_t LinesBytes(std::uint32_t ranks) {
  return WholePages(sizeof(BoardHeader) + ranks * (sizeof(Member) + kDepth * sizeof(Post)) +
                    kDepth * (sizeof(Gate) + sizeof(Post)));
}

std::size_t BoardBytes(const Invitation& invitation) {
  return LinesBytes(invitation.ranks) + RingBytes(static_cast<Rank>(invitation.ranks)) +
         kSlots * invitation.slot_bytes;
}

// Closes on scope exit.
struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) close(value);
  }
};

Status Size(int descriptor, std::size_t bytes) {
  // Asked first: growing a file beyond the limit would raise SIGXFSZ.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
    return Error(Code::kResource, "%zu bytes exceed the file size limit (ulimit -f)", bytes);
  if (ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return SystemError(Code::kResource, errno, "sizing a memfd to %zu bytes", bytes);
  return {};
}

Result<std::byte*> Map(int descriptor, std::size_t bytes) {
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED)
    return SystemError(Code::kResource, errno, "mmap of %zu shared bytes", bytes);
  return static_cast<std::byte*>(base);
}

// A dead process has no program, not even before it is waited for.
bool Alive(std::int32_t pid) {
  char target[1];
  return readlink(Format("/proc/%d/exe", pid).c_str(), target, sizeof target) >= 0 ||
         (errno != ENOENT && errno != ESRCH);
}

}  // namespace

Result<std::unique_ptr<Board>> Board::Create(Rank ranks, std::uint64_t area_bytes) {
  Invitation invitation;
  invitation.ranks = static_cast<std::uint32_t>(ranks);
  invitation.slot_bytes = WholePages(area_bytes / kSlots);
  invitation.pid = getpid();
  Descriptor descriptor{memfd_create("lamina-board", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (descriptor.value < 0) return SystemError(Code::kUnsupported, errno, "memfd_create");
  const std::size_t bytes = BoardBytes(invitation);
  if (Status status = Size(descriptor.value, bytes); !status.ok()) return status;
  struct stat info;
  if (fstat(descriptor.value, &info) != 0) return SystemError(Code::kInternal, errno, "fstat");
  invitation.inode = info.st_ino;
  while (invitation.token == 0)
    if (getrandom(&invitation.token, sizeof invitation.token, 0) != sizeof invitation.token)
      return SystemError(Code::kResource, errno, "getrandom");
  Result<std::byte*> base = Map(descriptor.value, bytes);
  if (!base.ok()) return std::move(base).status();
  invitation.descriptor = std::exchange(descriptor.value, -1);
  std::unique_ptr<Board> board(new Board(*base, bytes, invitation.descriptor, invitation));
  BoardHeader& header = board->header();
  header.magic = kMagic;
  header.token = invitation.token;
  header.slot_bytes = invitation.slot_bytes;
  header.ranks = invitation.ranks;
  return board;
}

Result<std::unique_ptr<Board>> Board::Open(const Invitation& invitation) {
  const std::string path = Format("/proc/%d/fd/%d", invitation.pid, invitation.descriptor);
  Descriptor descriptor{open(path.c_str(), O_RDWR | O_CLOEXEC)};
  if (descriptor.value < 0) return SystemError(Code::kUnsupported, errno, "open(%s)", path.c_str());
  const std::size_t bytes = BoardBytes(invitation);
  struct stat info;
  if (fstat(descriptor.value, &info) != 0 || info.st_ino != invitation.inode ||
      static_cast<std::size_t>(info.st_size) != bytes)
    return Error(Code::kUnsupported, "%s is another file", path.c_str());
  Result<std::byte*> base = Map(descriptor.value, bytes);
  if (!base.ok()) return std::move(base).status();
  std::unique_ptr<Board> board(new Board(*base, bytes, -1, invitation));
  const BoardHeader& header = board->header();
  if (header.magic != kMagic || header.token != invitation.token ||
      header.ranks != invitation.ranks || header.slot_bytes != invitation.slot_bytes)
    return Error(Code::kUnsupported, "%s is another file", path.c_str());
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
  if (broken()) return;  // maybe by what this member found before
  member(found.rank).contradiction = found;
  Break(static_cast<Broken>(static_cast<Rank>(Broken::kContradiction) + found.rank));
}

const Contradiction* Board::contradiction() {
  const auto finder = static_cast<Rank>(why_broken()) - static_cast<Rank>(Broken::kContradiction);
  return finder < 0 ? nullptr : &member(finder).contradiction;
}

void Board::LookAfter(Number number) {
  for (Rank rank = 0; rank < ranks_; ++rank) {
    Member& one = member(rank);
    if (one.finished.load(std::memory_order_acquire) < number &&
        !Alive(one.pid.load(std::memory_order_relaxed)))
      Break();
  }
}

}  // namespace lamina::collective::board
