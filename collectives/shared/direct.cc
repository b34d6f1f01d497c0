// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of long vectors, straight between the members' buffers.
//
// Members publish where their vectors lie and meet. Each folds its slice of all vectors, a piece at
// a time so that the piece stays in the cache, and writes the result to all. Then they meet again,
// because until then others may be at their buffers. Slice s of any buffer is read and written by
// member s alone, so the result may lie where the input does.
//
// Cost:  two meetings; each byte is copied twice and folded once; 2 (P - 1) system calls a piece,
//        about 2 us each, so pieces are large.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/shared/memory.h"
#include "collectives/shared/operations.h"

namespace lamina::collective::shared {
namespace {

// Two of them fit a second-level cache of 512 KiB.
constexpr std::int64_t kPieceBytes = 128 << 10;

// What a member publishes.
struct Addresses {
  std::uint64_t input;
  std::uint64_t output;
};
static_assert(sizeof(Addresses) <= kInlineBytes);

Addresses AddressesOf(Participant& self, Rank rank) {
  Addresses addresses;
  std::memcpy(&addresses, self.post(rank).data, sizeof addresses);
  return addresses;
}

// One member's slice of the reduction.
class Slice {
 public:
  Slice(Participant& self, const Reduction& it, std::byte* work)
      : self_(self), it_(it), result_(work), row_(work + kPieceBytes) {}

  bool FoldAndWrite() {
    const std::int64_t end = it_.count * (self_.rank() + 1) / self_.ranks();
    const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / it_.type->size);
    for (std::int64_t first = it_.count * self_.rank() / self_.ranks(); first < end; first += step)
      if (!Piece(first, std::min(step, end - first))) return false;
    return true;
  }

 private:
  bool Piece(std::int64_t first, std::int64_t count) {
    const std::int64_t offset = first * it_.type->size;
    const std::int64_t bytes = count * it_.type->size;
    if (!Fetch(self_.ranks() - 1, offset, bytes, result_)) return false;
    for (Rank rank = self_.ranks() - 2; rank >= 0; --rank) {
      if (!Fetch(rank, offset, bytes, row_)) return false;
      datatype::Reduce(*it_.op, row_, result_, count, *it_.type);
    }
    for (Rank step = 0; step < self_.ranks(); ++step)  // not all to the same one at a time
      if (!Store((self_.rank() + step) % self_.ranks(), offset, bytes)) return false;
    return true;
  }

  bool Fetch(Rank rank, std::int64_t offset, std::int64_t bytes, std::byte* into) {
    if (rank != self_.rank())
      return ReadFrom(self_.PidOf(rank),
                      AddressesOf(self_, rank).input + static_cast<std::uint64_t>(offset), into,
                      bytes);
    std::memcpy(into, static_cast<const std::byte*>(it_.input) + offset,
                static_cast<std::size_t>(bytes));
    return true;
  }

  bool Store(Rank rank, std::int64_t offset, std::int64_t bytes) {
    if (rank != self_.rank())
      return WriteTo(self_.PidOf(rank),
                     AddressesOf(self_, rank).output + static_cast<std::uint64_t>(offset), result_,
                     bytes);
    std::memcpy(static_cast<std::byte*>(it_.output) + offset, result_,
                static_cast<std::size_t>(bytes));
    return true;
  }

  Participant& self_;
  const Reduction& it_;
  std::byte* const result_;
  std::byte* const row_;
};

}  // namespace

bool FitsDirect(const datatype::Datatype& type) { return type.size <= kPieceBytes; }

bool AllreduceDirect(Participant& self, const Reduction& it) {
  const std::unique_ptr<std::byte[]> work(new (std::nothrow) std::byte[2 * kPieceBytes]);
  const Addresses own{AddressOf(it.input), AddressOf(it.output)};
  if (!self.Begin(Writes::kPost)) return false;
  std::memcpy(self.post(self.rank()).data, &own, sizeof own);
  if (!self.Meet()) return false;
  const bool done = work != nullptr && Slice(self, it, work.get()).FoldAndWrite();
  if (!done) self.Break();
  return done && Barrier(self);
}

}  // namespace lamina::collective::shared
