// SPDX-License-Identifier: BSD-3-Clause
// Long data, straight between the members' buffers.
//
// Members publish where their data lies and meet. Each reads from and writes to the buffers of the
// others. Then all meet again, because until then others may be at work in their buffers.
//
// allgather, alltoall: each member writes its blocks to the others, because the member that made
// them has them in its cache. It copies its own block while it waits.
//
// bcast: the others read from the root, which meanwhile writes its own slice to all of them.
//
// reduce, allreduce: each member folds its slice of all vectors and writes the result to the root
// or to all. It does so in pieces, which stay in its cache. Slice s of any buffer is read and
// written by member s alone, so a result may lie where the input does.
//
// A member that can no longer reach another's memory says so at the second meeting. Data that only
// moves then goes another way. In a reduction the slices that are not where they belong are reduced
// at the board, because their input is still untouched in the buffers of all members.
//
// Cost:  two meetings, and a system call for each block or piece of each other member. Every byte
//        that goes to another member is copied once; what is folded is copied once more for each
//        member that gets it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/board/fold.h"
#include "collectives/board/memory.h"
#include "collectives/board/operations.h"
#include "collectives/board/output.h"
#include "runtime/memory/copy.h"

namespace lamina::collective::board {
namespace {

constexpr std::int64_t kPageBytes = 4 << 10;

// What a member publishes.
struct Addresses {
  std::uint64_t input = 0;   // 0: it is not contiguous, or not as long as the output
  std::uint64_t output = 0;  // 0: there is none
  std::int64_t bytes = 0;    // the length of the vector or a block
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

// True if every member's data is contiguous and equally long. Otherwise finishes the operation, and
// the caller falls back: writing directly could run past a shorter buffer.
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

// The second meeting. `access` says how this member fared with the memory of the others. It does
// `meanwhile` while it waits for them.
template <class Meanwhile>
[[nodiscard]] Outcome Leave(Participant& self, Access access, const Meanwhile& meanwhile) {
  if (access == Access::kGone) self.Break();
  if (access == Access::kGone || !self.Begin(self.shares_cpus() ? Writes::kNothing : Writes::kPost))
    return Outcome::kBroken;
  if (access == Access::kDenied) self.Deny();
  self.Arrive();
  meanwhile();
  if (!self.AwaitAll()) return Outcome::kBroken;
  self.LearnOfDenial();
  self.Finish();
  return self.denied() ? Outcome::kElsewhere : Outcome::kDone;
}
[[nodiscard]] Outcome Leave(Participant& self, Access access) {
  return Leave(self, access, [] {});
}

// The member that this one turns to in a step, from 1 on. In no step do two members turn to the
// same one.
Rank Other(Participant& self, Rank step) { return (self.rank() + step) % self.ranks(); }

constexpr std::uint64_t Offset(std::int64_t bytes) { return static_cast<std::uint64_t>(bytes); }

// One member's slice of the reduction.
class Slice {
 public:
  // `root` is the only member that gets the result, or -1. `work` has room for two pieces, or is
  // null if there is no memory.
  Slice(Participant& self, Rank root, const Reduction& it, std::byte* work)
      : self_(self), root_(root), it_(it), work_(work) {}

  Access FoldAndWrite() {
    Member& own = self_.member(self_.rank());
    own.settled = own.folded = 0;
    if (work_ == nullptr) return Access::kDenied;
    const std::int64_t end = Begin(self_.rank() + 1);
    const std::int64_t step = std::max<std::int64_t>(1, kDirectPieceBytes / it_.type->size);
    for (std::int64_t first = Begin(self_.rank()); first < end; first += step) {
      const std::int64_t count = std::min(step, end - first);
      if (const Access access = Piece(first, count); access != Access::kDone) return access;
      own.settled += count;
    }
    return Access::kDone;
  }

  // Does the rest of all slices through the board.
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
  // Null on a member that gets no result.
  std::byte* Output(std::int64_t first) const {
    return it_.output != nullptr ? static_cast<std::byte*>(it_.output) + first * it_.type->size
                                 : nullptr;
  }

  // The first element of a member's slice. Writing a byte takes about as long as reading and
  // folding it. The root of a reduce writes nothing to others, so it does P - 1 such units of work
  // per byte where the others do P, and its slice is larger. The slices of the others have whole
  // pages, because the kernel's cost is by the page.
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
      std::byte* const into = rank == self_.ranks() - 1 ? work_ : work_ + kDirectPieceBytes;
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
    // In an allreduce some members may already have this piece in place of their input, so it is
    // recorded as folded. In a reduce only the root receives anything.
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

// Writes block `rank` of `out` to every other `rank`, to the place where it expects this member's
// block. The own block is copied while others are waited for: the first half of it before all have
// come, the second before all leave.
template <class Out>
Outcome WriteBlocks(Participant& self, const Addresses& data, const Out& out, const Blocks& in) {
  if (!Tell(self, data)) return Outcome::kBroken;
  const std::byte* const own = out(self.rank());
  std::byte* const place = in.At(self.rank()).data();
  const auto copy_own = [&](std::int64_t begin, std::int64_t end) {
    if (own == place) return;
    memory::Copy(place + begin, own + begin, static_cast<std::size_t>(end - begin),
                 StoresOfOutput(self, data.bytes));
  };
  copy_own(0, data.bytes / 2);
  if (!self.AwaitAll()) return Outcome::kBroken;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  Access access = Access::kDone;
  for (Rank step = 1; access == Access::kDone && step < self.ranks(); ++step) {
    const Rank rank = Other(self, step);
    const std::uint64_t into = AddressesOf(self, rank).output + Offset(self.rank() * data.bytes);
    access = WriteTo(self.PidOf(rank), into, out(rank), data.bytes);
  }
  return Leave(self, access, [&] { copy_own(data.bytes / 2, data.bytes); });
}

}  // namespace

bool FitsDirect(const datatype::Datatype& type) { return type.size <= kDirectPieceBytes; }

Outcome ReduceDirect(Participant& self, Rank root, const Reduction& it) {
  const std::unique_ptr<std::byte[]> work(new (std::nothrow) std::byte[2 * kDirectPieceBytes]);
  if (!Exchange(self, {AddressOf(it.input), AddressOf(it.output), it.bytes()}))
    return Outcome::kBroken;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  Slice slice(self, root, it, work.get());
  const Outcome outcome = Leave(self, slice.FoldAndWrite());
  if (outcome != Outcome::kElsewhere) return outcome;
  return slice.SettleAll() ? Outcome::kDone : Outcome::kBroken;
}

Outcome BcastDirect(Participant& self, Rank root, const Buffer& data) {
  if (!Exchange(self, DataOf(data, data))) return Outcome::kBroken;
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
  // Others write into what lies in one piece only.
  return WriteBlocks(self, all.places.empty() ? DataOf(own, all.first) : Addresses{}, out, all);
}

Outcome AlltoallDirect(Participant& self, const Blocks& out, const Blocks& in) {
  const auto block = [&](Rank rank) { return out.At(rank).data(); };
  return WriteBlocks(self, DataOf(out.first, in.first), block, in);
}

}  // namespace lamina::collective::board
