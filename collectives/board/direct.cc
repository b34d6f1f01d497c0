// SPDX-License-Identifier: BSD-3-Clause
// Long data, straight between the members' buffers.
//
// Members publish where their data lies and meet. Each reads or writes what it has to of the
// others'. Then they meet again, because until then others may be at their buffers.
//
// allgather, alltoall: each writes its blocks to the others, because whoever made them has them in
// its cache, and copies its own while it waits. Every second call begins where the last one ended,
// because that is what the caches still hold: alltoall between two CPUs with 2 MiB each, 64 KiB
// 5.7 us when always in the same order, 5.4 so, 1 MiB 172 and 132. Of more than they hold that is
// slower, 16 MiB 3.25 and 3.8 ms, and a block that stays where it is is copied past them: 32 MiB
// 10.4 and 8.8 ms; made before and read afterwards by the program as well, 16 MiB 12.0 and 11.0.
//
// bcast: the root writes its slice to all, as much as it can while they read the others.
//
// reduce, allreduce: each member folds its slice of all vectors, a piece at a time so that the
// piece stays in the cache, and writes the result to the root or to all. Slice s of any buffer is
// read and written by member s alone, so the result may lie where the input does.
//
// Where a member cannot reach another's memory any more, it says so when they meet before they
// leave. What only moves is then moved another way by all. Of a reduction the slices remain that
// are not where they belong: they are reduced at the board, where their input lies untouched in all
// members' buffers.
//
// Cost:  two meetings; a system call, 1 to 2 us, for each block or piece of each of the others.
//        Every byte that goes to another is copied once; folded, once more for each who gets it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/board/fold.h"
#include "collectives/board/memory.h"
#include "collectives/board/operations.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/streaming.h"

namespace lamina::collective::board {
namespace {

// Two of them fit a second-level cache of 512 KiB.
constexpr std::int64_t kPieceBytes = 128 << 10;

constexpr std::int64_t kPageBytes = 4 << 10;

// Shorter blocks gain nothing by turning round. What is written to others from its end goes in
// pieces of this much.
constexpr std::int64_t kTurnBytesMin = 64 << 10, kTurnPieceBytes = 256 << 10;

// Of more output than this, of all members together, caches hold too little from call to call.
constexpr std::int64_t kCachedOutputBytesMax = 32 << 20;

// What a member publishes: 0 for an input that is not in one piece or not as long as the output, or
// an output that is not there.
struct Addresses {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::int64_t bytes = 0;  // of the vector or a block
};
static_assert(sizeof(Addresses) <= kInlineBytes);

Addresses DataOf(const Buffer& input, const Buffer& output) {
  if (!input.contiguous() || !output.contiguous() || input.bytes() != output.bytes()) return {};
  return {AddressOf(input.data()), AddressOf(output.data()), output.bytes()};
}

// Tells all members where this one's data lies.
[[nodiscard]] bool Tell(Participant& self, const Addresses& own) {
  if (!self.Begin(Writes::kPost)) return false;
  std::memcpy(self.post(self.rank()).data, &own, sizeof own);
  self.Arrive();
  return true;
}

[[nodiscard]] bool Exchange(Participant& self, const Addresses& own) {
  return Tell(self, own) && self.AwaitAll();
}

Addresses AddressesOf(Participant& self, Rank rank) {
  Addresses addresses;
  std::memcpy(&addresses, self.post(rank).data, sizeof addresses);
  return addresses;
}

// Is the data of every member in one piece? If not, that was all. Nor where one expects less than
// another has, which is an error: nothing must be written behind a buffer.
[[nodiscard]] bool AllInOnePiece(Participant& self) {
  const std::int64_t bytes = AddressesOf(self, 0).bytes;
  for (Rank rank = 0; rank < self.ranks(); ++rank) {
    const Addresses its = AddressesOf(self, rank);
    if (its.input != 0 && its.bytes == bytes) continue;
    self.Finish();
    return false;
  }
  return true;
}

// Everybody has had what it wants of the others. `access`: how this member fared. `meanwhile` is
// done while it waits for the others.
template <class Meanwhile>
[[nodiscard]] Outcome Leave(Participant& self, Access access, const Meanwhile& meanwhile) {
  if (access == Access::kGone) self.Break();
  if (access == Access::kGone || !self.Begin(self.crowded() ? Writes::kNothing : Writes::kPost))
    return Outcome::kDied;
  if (access == Access::kDenied) self.Deny();
  self.Arrive();
  meanwhile();
  if (!self.AwaitAll()) return Outcome::kDied;
  self.LearnOfDenial();
  self.Finish();
  return self.denied() ? Outcome::kElsewhere : Outcome::kDone;
}
[[nodiscard]] Outcome Leave(Participant& self, Access access) {
  return Leave(self, access, [] {});
}

// Another member for each step from 1 on; not all turn to the same one at a time.
Rank Other(Participant& self, Rank step) { return (self.rank() + step) % self.ranks(); }

constexpr std::uint64_t Offset(std::int64_t bytes) { return static_cast<std::uint64_t>(bytes); }

// One member's slice of the reduction.
class Slice {
 public:
  // `root`: the only one who gets the result, or -1. `work`: two pieces; null: there was no memory.
  Slice(Participant& self, Rank root, const Reduction& it, std::byte* work)
      : self_(self), root_(root), it_(it), work_(work) {}

  Access FoldAndWrite() {
    Member& own = self_.member(self_.rank());
    own.settled = own.folded = 0;
    if (work_ == nullptr) return Access::kDenied;
    const std::int64_t end = Begin(self_.rank() + 1);
    const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / it_.type->size);
    for (std::int64_t first = Begin(self_.rank()); first < end; first += step) {
      const std::int64_t count = std::min(step, end - first);
      if (const Access access = Piece(first, count); access != Access::kDone) return access;
      own.settled += count;
    }
    return Access::kDone;
  }

  // At the board: what is not where it belongs of all slices.
  [[nodiscard]] bool SettleAll() {
    for (Rank rank = 0; rank < self_.ranks(); ++rank) {
      const Member& its = self_.member(rank);
      const std::int64_t folded = Begin(rank) + its.settled;
      const std::int64_t rest = folded + its.folded;
      if (its.folded > 0 && !Bcast(self_, rank, {Output(folded), its.folded, it_.type}))
        return false;
      const std::int64_t count = Begin(rank + 1) - rest;
      const Reduction part{Input(rest), Output(rest), count, it_.type, it_.op};
      if (count > 0 && !(root_ < 0 ? Allreduce(self_, part) : Reduce(self_, root_, part)))
        return false;
    }
    return true;
  }

 private:
  const std::byte* Input(std::int64_t first) const {
    return static_cast<const std::byte*>(it_.input) + first * it_.type->size;
  }
  // Null where there is no result.
  std::byte* Output(std::int64_t first) const {
    return it_.output != nullptr ? static_cast<std::byte*>(it_.output) + first * it_.type->size
                                 : nullptr;
  }

  // Where the slice of `rank` begins. To write a byte takes about as long as to read and fold it.
  // The root need not write to others: P - 1 such units to their P, so its slice is larger. Those
  // of the others are of whole pages, each of which costs the kernel the same however little of it
  // is copied: 16 KiB to one of two 2.7 us without that and 2.4 with it, 64 KiB 4.9 and 4.6.
  std::int64_t Begin(Rank rank) const {
    const std::int64_t ranks = self_.ranks();
    if (root_ < 0) return it_.count * rank / ranks;
    const std::int64_t all = (ranks - 1) * (ranks - 1) + ranks;
    const std::int64_t share = it_.bytes() * (ranks - 1) / all;
    const std::int64_t other =
        (share < kPageBytes ? share : share / kPageBytes * kPageBytes) / it_.type->size;
    return rank > root_ ? it_.count - other * (ranks - rank) : other * rank;
  }

  Access Piece(std::int64_t first, std::int64_t count) {
    const std::int64_t offset = first * it_.type->size;
    const std::int64_t bytes = count * it_.type->size;
    std::byte* const output = Output(first);
    Access access = Access::kDone;
    const auto row = [&](Rank rank) -> const std::byte* {
      if (rank == self_.rank()) return Input(first);
      std::byte* const into = rank == self_.ranks() - 1 ? work_ : work_ + kPieceBytes;
      const std::uint64_t from = AddressesOf(self_, rank).input + Offset(offset);
      access = ReadFrom(self_.PidOf(rank), from, into, bytes);
      return access == Access::kDone ? into : nullptr;
    };
    const std::byte* const folded =
        FoldBlock(it_, self_.ranks(), count, Rows::kNear, row, work_, output);
    if (folded == nullptr) return access;
    for (Rank step = 1; step < self_.ranks() && access == Access::kDone; ++step)
      access = Store(Other(self_, step), offset, folded, bytes);
    if (output != nullptr && folded != output)
      memory::CopyLong(output, folded, static_cast<std::size_t>(bytes));
    // Some others may have it, in place of their input; of a reduce the root alone would.
    if (access == Access::kDenied && root_ < 0) self_.member(self_.rank()).folded = count;
    return access;
  }

  Access Store(Rank rank, std::int64_t offset, const std::byte* from, std::int64_t bytes) {
    const std::uint64_t output = AddressesOf(self_, rank).output;
    if (output == 0) return Access::kDone;
    return WriteTo(self_.PidOf(rank), output + Offset(offset), from, bytes);
  }

  Participant& self_;
  const Rank root_;
  const Reduction& it_;
  std::byte* const work_;
};

// Writes `bytes` to `address` of `rank`: at once, or piece by piece from the end.
Access WriteBlock(Participant& self, Rank rank, std::uint64_t address, const std::byte* from,
                  std::int64_t bytes, bool from_end) {
  const std::int64_t step = from_end ? kTurnPieceBytes : bytes;
  Access access = Access::kDone;
  for (std::int64_t end = bytes; access == Access::kDone && end > 0; end -= step) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - step);
    access = WriteTo(self.PidOf(rank), address + Offset(begin), from + begin, end - begin);
  }
  return access;
}

// Writes block `rank` of `out` to every other `rank`, where it expects what this member has. The
// own block is copied while others are waited for: half of it before all have come, the rest before
// all leave. Every second call may do all that in the opposite order.
template <class Out>
Outcome WriteBlocks(Participant& self, const Addresses& data, const Out& out, const Blocks& in) {
  if (!Tell(self, data)) return Outcome::kDied;
  const bool fits_caches = data.bytes * self.ranks() * self.ranks() <= kCachedOutputBytesMax;
  const bool from_end = fits_caches && data.bytes >= kTurnBytesMin && self.TurnRound();
  const std::byte* const own = out(self.rank());
  std::byte* const place = in.At(self.rank()).data();
  const auto copy_half = [&](bool second) {
    const std::int64_t begin = second ? data.bytes / 2 : 0;
    const std::int64_t end = second ? data.bytes : data.bytes / 2;
    const auto size = static_cast<std::size_t>(end - begin);
    if (own == place) return;  // in place
    if (from_end) return memory::CopyFromEnd(place + begin, own + begin, size);
    memory::Copy(place + begin, own + begin, size,
                 fits_caches ? memory::Stores::kOrdinary : memory::Stores::kStreaming);
  };
  copy_half(from_end);
  if (!self.AwaitAll()) return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  Access access = Access::kDone;
  for (Rank step = 1; access == Access::kDone && step < self.ranks(); ++step) {
    const Rank rank = Other(self, from_end ? self.ranks() - step : step);
    const std::uint64_t into = AddressesOf(self, rank).output + Offset(self.rank() * data.bytes);
    access = WriteBlock(self, rank, into, out(rank), data.bytes, from_end);
  }
  return Leave(self, access, [&] { copy_half(!from_end); });
}

}  // namespace

bool FitsDirect(const datatype::Datatype& type) { return type.size <= kPieceBytes; }

Outcome ReduceDirect(Participant& self, Rank root, const Reduction& it) {
  const std::unique_ptr<std::byte[]> work(new (std::nothrow) std::byte[2 * kPieceBytes]);
  if (!Exchange(self, {AddressOf(it.input), AddressOf(it.output), it.bytes()}))
    return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  Slice slice(self, root, it, work.get());
  const Outcome outcome = Leave(self, slice.FoldAndWrite());
  if (outcome != Outcome::kElsewhere) return outcome;
  return slice.SettleAll() ? Outcome::kDone : Outcome::kDied;
}

Outcome BcastDirect(Participant& self, Rank root, const Buffer& data) {
  if (!Exchange(self, DataOf(data, data))) return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  const std::int64_t bytes = data.bytes();
  const std::int64_t begin = bytes * root / self.ranks();
  const std::int64_t end = bytes * (root + 1) / self.ranks();
  Access access = Access::kDone;
  if (self.rank() != root) {
    const std::uint64_t from = AddressesOf(self, root).input;
    const std::int32_t pid = self.PidOf(root);
    access = ReadFrom(pid, from, data.data(), begin);
    if (access == Access::kDone)
      access = ReadFrom(pid, from + Offset(end), data.data() + end, bytes - end);
  } else {
    for (Rank step = 1; access == Access::kDone && step < self.ranks(); ++step) {
      const Rank rank = Other(self, step);
      access = WriteTo(self.PidOf(rank), AddressesOf(self, rank).output + Offset(begin),
                       data.data() + begin, end - begin);
    }
  }
  return Leave(self, access);
}

Outcome AllgatherDirect(Participant& self, const Buffer& own, const Blocks& all) {
  const auto out = [&](Rank) { return own.data(); };
  return WriteBlocks(self, DataOf(own, all.first), out, all);
}

Outcome AlltoallDirect(Participant& self, const Blocks& out, const Blocks& in) {
  const auto block = [&](Rank rank) { return out.At(rank).data(); };
  return WriteBlocks(self, DataOf(out.first, in.first), block, in);
}

}  // namespace lamina::collective::board
