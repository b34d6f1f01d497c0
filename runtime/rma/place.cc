// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/place.h"

#include <algorithm>
#include <cstring>

#include "runtime/memory/copy.h"
#include "runtime/memory/peer_memory.h"
#include "runtime/rma/tuning.h"

namespace lamina::rma {
namespace {

using datatype::At;
using datatype::Run;

int ClassOf(memory::Access access) {
  switch (access) {
    case memory::Access::kDone:
      return MPI_SUCCESS;
    case memory::Access::kGone:
      return MPI_ERR_PROC_ABORTED;
    case memory::Access::kAbsent:
      return MPI_ERR_RMA_RANGE;
    case memory::Access::kDenied:
      return MPI_ERR_ACCESS;
  }
  return MPI_ERR_INTERN;
}

enum class Direction { kPut, kGet };

// Moves data between a buffer of ours and pieces of another process's memory, which come in type
// map order. Data that is scattered here goes through staging.
class CopiedMove {
 public:
  CopiedMove(Direction direction, const Place& place, const Buffer& ours)
      : direction_(direction), place_(place), ours_(ours) {}

  bool Add(const Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      std::int64_t at = run.offset + i * run.stride;
      for (std::int64_t left = run.bytes; left > 0;) {
        const std::int64_t here = ours_.contiguous() ? left : std::min(left, Room());
        pieces_[used_++] = {place_.address + static_cast<std::uint64_t>(at),
                            static_cast<std::size_t>(here)};
        bytes_ += here;
        at += here;
        left -= here;
        if ((used_ == kPiecesMax || Room() == 0) && !MoveAll()) return false;
      }
    }
    return true;
  }
  // Moves what is left, and says how all of it went.
  int Finish() {
    if (error_ == MPI_SUCCESS && used_ > 0) MoveAll();
    return error_;
  }

 private:
  std::int64_t Room() const {
    return ours_.contiguous() ? 1 : static_cast<std::int64_t>(kStagingBytes) - bytes_;
  }
  bool MoveAll() {
    const bool direct = ours_.contiguous();
    std::byte* const local = direct ? ours_.data() + position_ : staging_;
    const std::span<std::byte> staged(staging_, static_cast<std::size_t>(direct ? 0 : bytes_));
    const std::span<const memory::PeerPiece> pieces(pieces_, used_);
    if (direction_ == Direction::kPut) {
      datatype::Pack(ours_, direct ? 0 : position_, staged);
      error_ = ClassOf(memory::WritePeerPieces(place_.pid, pieces, local));
    } else {
      error_ = ClassOf(memory::ReadPeerPieces(place_.pid, pieces, local));
      if (error_ == MPI_SUCCESS) datatype::Unpack(staged, direct ? 0 : position_, ours_);
    }
    position_ += bytes_;
    bytes_ = 0;
    used_ = 0;
    return error_ == MPI_SUCCESS;
  }

  const Direction direction_;
  const Place& place_;
  const Buffer& ours_;
  std::int64_t position_ = 0;  // in the packed data, of what is collected
  std::int64_t bytes_ = 0;     // of what is collected
  std::size_t used_ = 0;
  int error_ = MPI_SUCCESS;
  memory::PeerPiece pieces_[kPiecesMax];
  std::byte staging_[kStagingBytes];
};

int MoveCopied(Direction direction, const Place& place, const Shape& shape, const Buffer& ours) {
  CopiedMove move(direction, place, ours);
  shape.ForEachRun([&move](const Run& run) { return move.Add(run); });
  return move.Finish();
}

}  // namespace

int Put(const Place& to, const Shape& shape, const Buffer& from) {
  if (!to.is_mapped()) return MoveCopied(Direction::kPut, to, shape, from);
  if (shape.type != nullptr) {
    datatype::Copy(from, {to.memory, shape.count, shape.type});
    return MPI_SUCCESS;
  }
  std::int64_t position = 0;
  shape.ForEachRun([&](const Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i, position += run.bytes)
      datatype::Pack(
          from, position,
          {At(to.memory, run.offset + i * run.stride), static_cast<std::size_t>(run.bytes)});
    return true;
  });
  return MPI_SUCCESS;
}

int Get(const Place& from, const Shape& shape, const Buffer& into) {
  if (!from.is_mapped()) return MoveCopied(Direction::kGet, from, shape, into);
  if (shape.type != nullptr) {
    datatype::Copy({from.memory, shape.count, shape.type}, into);
    return MPI_SUCCESS;
  }
  std::int64_t position = 0;
  shape.ForEachRun([&](const Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i, position += run.bytes)
      datatype::Unpack(
          {At(from.memory, run.offset + i * run.stride), static_cast<std::size_t>(run.bytes)},
          position, into);
    return true;
  });
  return MPI_SUCCESS;
}

namespace {

// The alignment of a basic type is a power of two.
bool IsAligned(const void* address, const Datatype& type) {
  const auto low_bits = static_cast<std::uintptr_t>(type.alignment) - 1;
  return (reinterpret_cast<std::uintptr_t>(address) & low_bits) == 0;
}

bool IsReplace(const datatype::Op& op) { return datatype::HandleOf(&op) == MPI_REPLACE; }
bool IsNoOp(const datatype::Op& op) { return datatype::HandleOf(&op) == MPI_NO_OP; }

// Combines stretches of elements side by side. Operand, result and the memory itself go through
// aligned staging where they are scattered, misaligned or not ours.
class Combination {
 public:
  Combination(const Place& place, const Accumulation& it, Exclusion zones)
      : place_(place),
        it_(it),
        zones_(zones),
        size_(it.basic->size),
        is_no_op_(IsNoOp(*it.op)),
        is_replace_(IsReplace(*it.op)) {}

  bool Add(const Run& run) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const std::int64_t at = run.offset + i * run.stride;
      if (!(it_.basic->contiguous ? AddElements(at, run.bytes) : AddPairs(at, run.bytes)))
        return false;
    }
    return true;
  }
  int error() const { return error_; }

 private:
  bool AddElements(std::int64_t at, std::int64_t bytes) {
    while (bytes > 0) {
      const std::uint64_t offset = place_.offset + static_cast<std::uint64_t>(at);
      const auto left = static_cast<std::int64_t>(kStripeBytes - offset % kStripeBytes);
      constexpr auto kRoom = static_cast<std::int64_t>(kStagingBytes);
      // The stripe's end is rounded up to whole elements, because an element belongs to the stripe
      // of its first byte.
      const std::int64_t here =
          bytes <= std::min(left, kRoom)
              ? bytes
              : std::min({bytes, (left + size_ - 1) / size_ * size_, kRoom / size_ * size_});
      if (!Combine(at, here, ZoneOf(offset))) return false;
      at += here;
      bytes -= here;
    }
    return true;
  }

  bool Combine(std::int64_t at, std::int64_t bytes, std::uint32_t zone) {
    const auto length = static_cast<std::size_t>(bytes);
    const std::byte* operand = nullptr;
    if (!is_no_op_) {
      const bool direct =
          it_.operand.contiguous() && IsAligned(it_.operand.data() + position_, *it_.basic);
      operand = direct ? it_.operand.data() + position_ : operand_;
      if (!direct) datatype::Pack(it_.operand, position_, {operand_, length});
    }
    std::byte* target = !place_.is_mapped() ? old_ : At(place_.memory, at);
    const bool staged = !place_.is_mapped() || !IsAligned(target, *it_.basic);
    if (!zones_.Take(zone)) return Fail(MPI_ERR_PROC_ABORTED);
    error_ = CombineHeld(at, length, operand, staged ? old_ : target, staged);
    zones_.Release(zone);
    position_ += bytes;
    return error_ == MPI_SUCCESS;
  }

  // The zone is held. `target` is the memory itself or staging.
  int CombineHeld(std::int64_t at, std::size_t bytes, const std::byte* operand, std::byte* target,
                  bool staged) {
    const bool reads = it_.result.type != nullptr || !is_replace_;
    if (staged && reads)
      if (const int error = Load(at, {target, bytes}); error != MPI_SUCCESS) return error;
    if (it_.result.type != nullptr) datatype::Unpack({target, bytes}, position_, it_.result);
    if (is_no_op_) return MPI_SUCCESS;
    if (is_replace_)
      memory::CopyMostlyShort(target, operand, bytes);
    else
      datatype::Combine(*it_.op, operand, target, target, static_cast<std::int64_t>(bytes) / size_,
                        *it_.basic);
    return staged ? Store(at, {target, bytes}) : static_cast<int>(MPI_SUCCESS);
  }

  // Pairs that have a hole come one by one. A run may begin or end within a pair, whose first byte
  // says where it is.
  bool AddPairs(std::int64_t at, std::int64_t bytes) {
    const std::int64_t within = position_ % size_;
    std::int64_t skip = within == 0 ? 0 : size_ - within;
    for (; skip < bytes; skip += size_)
      if (!CombinePair(at + skip, position_ + skip)) return false;
    position_ += bytes;
    return true;
  }

  bool CombinePair(std::int64_t at, std::int64_t position) {
    const std::uint32_t zone = ZoneOf(place_.offset + static_cast<std::uint64_t>(at));
    const auto extent = static_cast<std::size_t>(it_.basic->true_extent);
    const auto packed = static_cast<std::size_t>(size_);
    alignas(16) std::byte dense[64];
    const Buffer operand{operand_, 1, it_.basic}, old{old_, 1, it_.basic};
    if (!is_no_op_) {
      datatype::Pack(it_.operand, position, {dense, packed});
      datatype::Unpack({dense, packed}, 0, operand);
    }
    if (!zones_.Take(zone)) return Fail(MPI_ERR_PROC_ABORTED);
    error_ = Load(at, {old_, extent});
    if (error_ == MPI_SUCCESS && it_.result.type != nullptr) {
      datatype::Pack(old, 0, {dense, packed});
      datatype::Unpack({dense, packed}, position, it_.result);
    }
    if (error_ == MPI_SUCCESS && !is_no_op_) {
      if (is_replace_)
        datatype::Copy(operand, old);
      else
        datatype::Combine(*it_.op, operand_, old_, old_, 1, *it_.basic);
      // The hole belongs to somebody else.
      datatype::ForEachRun(1, *it_.basic, [&](const Run& run) {
        error_ = Store(at + run.offset, {old_ + run.offset, static_cast<std::size_t>(run.bytes)});
        return error_ == MPI_SUCCESS;
      });
    }
    zones_.Release(zone);
    return error_ == MPI_SUCCESS;
  }

  int Load(std::int64_t at, std::span<std::byte> into) const {
    if (!place_.is_mapped())
      return ClassOf(
          memory::ReadPeer(place_.pid, place_.address + static_cast<std::uint64_t>(at), into));
    std::memcpy(into.data(), At(place_.memory, at), into.size());
    return MPI_SUCCESS;
  }
  int Store(std::int64_t at, std::span<const std::byte> from) const {
    if (!place_.is_mapped())
      return ClassOf(memory::WritePeer(place_.pid, place_.address + static_cast<std::uint64_t>(at),
                                       memory::AddressOf(from.data()), from.size()));
    std::memcpy(At(place_.memory, at), from.data(), from.size());
    return MPI_SUCCESS;
  }
  bool Fail(int error) {
    error_ = error;
    return false;
  }

  const Place& place_;
  const Accumulation& it_;
  Exclusion zones_;
  const std::int64_t size_;
  const bool is_no_op_;
  const bool is_replace_;
  std::int64_t position_ = 0;  // in the packed data
  int error_ = MPI_SUCCESS;
  alignas(64) std::byte operand_[kStagingBytes];
  alignas(64) std::byte old_[kStagingBytes];
};

}  // namespace

int Accumulate(const Place& at, const Shape& shape, const Accumulation& it, Exclusion zones) {
  Combination combination(at, it, zones);
  shape.ForEachRun([&combination](const Run& run) { return combination.Add(run); });
  return combination.error();
}

int CompareAndSwap(const Place& at, const Swap& it, Exclusion zones) {
  const std::uint32_t zone = ZoneOf(at.offset);
  const std::span<std::byte> old(static_cast<std::byte*>(it.result), it.bytes);
  if (!zones.Take(zone)) return MPI_ERR_PROC_ABORTED;
  int error = MPI_SUCCESS;
  if (at.is_mapped())
    std::memcpy(old.data(), at.memory, it.bytes);
  else
    error = ClassOf(memory::ReadPeer(at.pid, at.address, old));
  if (error == MPI_SUCCESS && std::memcmp(old.data(), it.expected, it.bytes) == 0) {
    if (at.is_mapped())
      std::memcpy(at.memory, it.desired, it.bytes);
    else
      error =
          ClassOf(memory::WritePeer(at.pid, at.address, memory::AddressOf(it.desired), it.bytes));
  }
  zones.Release(zone);
  return error;
}

}  // namespace lamina::rma
