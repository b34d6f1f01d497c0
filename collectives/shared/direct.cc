// SPDX-License-Identifier: BSD-3-Clause
// Long data, straight between the members' buffers.
//
// Members publish where their data lies and meet. Each reads or writes what it has to of the
// others'. Then they meet again, because until then others may be at their buffers.
//
// allgather, alltoall: each writes its blocks to the others, because whoever made them has them in
// its cache, and copies its own while it waits.
//
// bcast: the root writes its slice to all, as much as it can while they read the others.
//
// reduce, allreduce: each member folds its slice of all vectors, a piece at a time so that the
// piece stays in the cache, and writes the result to the root or to all. Slice s of any buffer is
// read and written by member s alone, so the result may lie where the input does.
//
// Cost:  two meetings; a system call, 1 to 2 us, for each block or piece of each of the others.
//        Every byte that goes to another is copied once; folded, once more for each who gets it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/shared/fold.h"
#include "collectives/shared/memory.h"
#include "collectives/shared/operations.h"

namespace lamina::collective::shared {
namespace {

// Two of them fit a second-level cache of 512 KiB.
constexpr std::int64_t kPieceBytes = 128 << 10;

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

// Everybody has had what it wants of the others. `done`: this member has. `meanwhile` is done while
// it waits for the others.
template <class Meanwhile>
[[nodiscard]] Outcome Leave(Participant& self, bool done, const Meanwhile& meanwhile) {
  if (!done) self.Break();
  if (!done || !self.Begin(self.crowded() ? Writes::kNothing : Writes::kPost))
    return Outcome::kDied;
  self.Arrive();
  meanwhile();
  if (!self.AwaitAll()) return Outcome::kDied;
  self.Finish();
  return Outcome::kDone;
}
[[nodiscard]] Outcome Leave(Participant& self, bool done) {
  return Leave(self, done, [] {});
}

// Another member for each step from 1 on; not all turn to the same one at a time.
Rank Other(Participant& self, Rank step) { return (self.rank() + step) % self.ranks(); }

constexpr std::uint64_t Offset(std::int64_t bytes) { return static_cast<std::uint64_t>(bytes); }

// One member's slice of the reduction.
class Slice {
 public:
  // `root`: the only one who gets the result, or -1.
  Slice(Participant& self, Rank root, const Reduction& it, std::byte* work)
      : self_(self), root_(root), it_(it), work_(work), row_(work + kPieceBytes) {}

  bool FoldAndWrite() {
    const std::int64_t end = Begin(self_.rank() + 1);
    const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / it_.type->size);
    for (std::int64_t first = Begin(self_.rank()); first < end; first += step)
      if (!Piece(first, std::min(step, end - first))) return false;
    return true;
  }

 private:
  // Where the slice of `rank` begins. To write a byte takes about as long as to read and fold it.
  // The root need not write to others: P - 1 such units to their P, so its slice is larger.
  std::int64_t Begin(Rank rank) const {
    const std::int64_t ranks = self_.ranks();
    if (root_ < 0) return it_.count * rank / ranks;
    const std::int64_t all = (ranks - 1) * (ranks - 1) + ranks;
    return it_.count * ((ranks - 1) * rank + (rank > root_ ? 1 : 0)) / all;
  }

  bool Piece(std::int64_t first, std::int64_t count) {
    const std::int64_t offset = first * it_.type->size;
    const std::int64_t bytes = count * it_.type->size;
    std::byte* const output =
        it_.output != nullptr ? static_cast<std::byte*>(it_.output) + offset : nullptr;
    const auto row = [&](Rank rank) {
      return Fetch(rank, offset, bytes, rank == self_.ranks() - 1 ? work_ : row_);
    };
    const std::byte* const folded = FoldBlock(it_, self_.ranks(), count, row, work_, output);
    if (folded == nullptr) return false;
    for (Rank step = 1; step < self_.ranks(); ++step)
      if (!Store(Other(self_, step), offset, folded, bytes)) return false;
    if (output != nullptr && folded != output)
      std::memcpy(output, folded, static_cast<std::size_t>(bytes));
    return true;
  }

  // Where the piece of `rank` can be read; null if it cannot.
  const std::byte* Fetch(Rank rank, std::int64_t offset, std::int64_t bytes, std::byte* into) {
    if (rank == self_.rank()) return static_cast<const std::byte*>(it_.input) + offset;
    const std::uint64_t from = AddressesOf(self_, rank).input + Offset(offset);
    return ReadFrom(self_.PidOf(rank), from, into, bytes) ? into : nullptr;
  }

  bool Store(Rank rank, std::int64_t offset, const std::byte* from, std::int64_t bytes) {
    const std::uint64_t output = AddressesOf(self_, rank).output;
    return output == 0 || WriteTo(self_.PidOf(rank), output + Offset(offset), from, bytes);
  }

  Participant& self_;
  const Rank root_;
  const Reduction& it_;
  std::byte* const work_;
  std::byte* const row_;
};

// Writes block `rank` of `out` to every other `rank`, where it expects what this member has. The
// own block is copied while others are waited for: half of it before all have come, the rest before
// all leave.
template <class Out>
Outcome WriteBlocks(Participant& self, const Addresses& data, const Out& out, const Blocks& in) {
  if (!Tell(self, data)) return Outcome::kDied;
  const std::byte* const own = out(self.rank());
  std::byte* const place = in.At(self.rank()).data();
  const std::int64_t half = data.bytes / 2;
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    if (own != place)
      std::memcpy(place + begin, own + begin, static_cast<std::size_t>(end - begin));
  };
  copy(0, half);
  if (!self.AwaitAll()) return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  bool done = true;
  for (Rank step = 1; done && step < self.ranks(); ++step) {
    const Rank rank = Other(self, step);
    const std::uint64_t into = AddressesOf(self, rank).output + Offset(self.rank() * data.bytes);
    done = WriteTo(self.PidOf(rank), into, out(rank), data.bytes);
  }
  return Leave(self, done, [&] { copy(half, data.bytes); });
}

}  // namespace

bool FitsDirect(const datatype::Datatype& type) { return type.size <= kPieceBytes; }

Outcome ReduceDirect(Participant& self, Rank root, const Reduction& it) {
  const std::unique_ptr<std::byte[]> work(new (std::nothrow) std::byte[2 * kPieceBytes]);
  if (!Exchange(self, {AddressOf(it.input), AddressOf(it.output), it.bytes()}))
    return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  return Leave(self, work != nullptr && Slice(self, root, it, work.get()).FoldAndWrite());
}

Outcome BcastDirect(Participant& self, Rank root, const Buffer& data) {
  if (!Exchange(self, DataOf(data, data))) return Outcome::kDied;
  if (!AllInOnePiece(self)) return Outcome::kElsewhere;
  const std::int64_t bytes = data.bytes();
  const std::int64_t begin = bytes * root / self.ranks();
  const std::int64_t end = bytes * (root + 1) / self.ranks();
  bool done = true;
  if (self.rank() != root) {
    const std::uint64_t from = AddressesOf(self, root).input;
    const std::int32_t pid = self.PidOf(root);
    done = ReadFrom(pid, from, data.data(), begin) &&
           ReadFrom(pid, from + Offset(end), data.data() + end, bytes - end);
  } else {
    for (Rank step = 1; done && step < self.ranks(); ++step) {
      const Rank rank = Other(self, step);
      done = WriteTo(self.PidOf(rank), AddressesOf(self, rank).output + Offset(begin),
                     data.data() + begin, end - begin);
    }
  }
  return Leave(self, done);
}

Outcome AllgatherDirect(Participant& self, const Buffer& own, const Blocks& all) {
  const auto out = [&](Rank) { return own.data(); };
  return WriteBlocks(self, DataOf(own, all.first), out, all);
}

Outcome AlltoallDirect(Participant& self, const Blocks& out, const Blocks& in) {
  const auto block = [&](Rank rank) { return out.At(rank).data(); };
  return WriteBlocks(self, DataOf(out.first, in.first), block, in);
}

}  // namespace lamina::collective::shared
