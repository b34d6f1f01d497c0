// SPDX-License-Identifier: BSD-3-Clause
// Operations that combine data.
//
// A few bytes lie in the posts, more in rows of the ring or the slot.
//
// reduce: the root folds all rows, piece by piece. The others run ahead of it.
//
// allreduce: a short vector is folded as a whole by the member that arrives last, or, where each
// rank has a CPU, by each member for itself. Two members fold it for themselves at any length,
// because the input that each would read is as long as the result. Longer vectors of more members
// go in pieces: each member folds its slice of every piece, and one meeting serves three pieces, so
// that n pieces take n + 1 meetings:
//
//   step i     write piece i     fold own slice of piece i - 1     read result of piece i - 2
//
// Cost:  every byte is copied twice and folded once, a member's own slice is copied once. Meetings
//        are as above; a reduce has none. Where each member folds everything, every byte is copied
//        once and folded by each.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/board/fold.h"
#include "collectives/board/operations.h"
#include "runtime/memory/copy.h"

namespace lamina::collective::board {
namespace {

constexpr std::int64_t kLine = kLineBytes;

constexpr std::int64_t Lines(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

void CopyBytes(const void* from, void* to, std::int64_t bytes) {
  if (from == to) return;
  memory::CopyLong(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                   static_cast<std::size_t>(bytes));
}

Rows RowsOf(const Participant& self) { return self.shares_cpus() ? Rows::kNear : Rows::kAway; }

// Folds `count` elements of every row, of which the first lie at `rows` in the first row.
void Fold(const Reduction& it, const std::byte* rows, std::int64_t stride, Rank ranks,
          std::int64_t count, void* result) {
  std::byte* const out = static_cast<std::byte*>(result);
  FoldBlock(
      it, ranks, count, Rows::kNear, [=](Rank rank) { return rows + rank * stride; }, out, out);
}

void FoldPosts(Participant& self, const Reduction& it, void* result) {
  constexpr std::int64_t kStride = sizeof(Post);
  Fold(it, self.post(0).data, kStride, self.ranks(), it.count, result);
}

bool IsInline(const Reduction& it) { return it.bytes() <= static_cast<std::int64_t>(kInlineBytes); }

bool AllreduceInline(Participant& self, const Reduction& it) {
  if (!self.Begin(Writes::kPost)) return false;
  CopyBytes(it.input, self.post(self.rank()).data, it.bytes());
  if (self.shares_cpus()) {
    Post& verdict = self.board().verdict(self.number());
    if (!self.MeetAtGate([&](Post& result) { FoldPosts(self, it, result.data); })) return false;
    CopyBytes(verdict.data, it.output, it.bytes());
  } else {
    if (!self.Meet()) return false;
    alignas(kLineBytes) std::byte result[kInlineBytes];
    FoldPosts(self, it, result);
    CopyBytes(result, it.output, it.bytes());
  }
  self.Finish();
  return true;
}

// The number of elements of a piece, such that `rows` of them fit a slot.
std::int64_t ElementsOfPiece(Participant& self, const Reduction& it, std::int64_t rows) {
  const std::int64_t slot = static_cast<std::int64_t>(self.board().slot_bytes());
  const std::int64_t row =
      std::min(slot / rows, std::max(kReductionRowBytesMax, Lines(it.type->size)));
  return std::min(it.count, row / kLine * kLine / it.type->size);
}

// True if the member that arrives last should do it all. The rows and the result must fit the slot.
bool LastCanFold(Participant& self, const Reduction& it) {
  return it.bytes() <= kFoldedWholeBytesMax &&
         Lines(it.bytes()) * (self.ranks() + 1) <=
             static_cast<std::int64_t>(self.board().slot_bytes());
}

bool LastFolds(Participant& self, const Reduction& it) {
  if (!self.Begin(Writes::kSlot)) return false;
  const std::int64_t stride = Lines(it.bytes());
  std::byte* const rows = self.slot();
  std::byte* const result = rows + self.ranks() * stride;
  CopyBytes(it.input, rows + self.rank() * stride, it.bytes());
  const auto fold = [&](Post&) { Fold(it, rows, stride, self.ranks(), it.count, result); };
  if (!self.MeetAtGate(fold)) return false;
  CopyBytes(result, it.output, it.bytes());
  self.Finish();
  return true;
}

// The number of elements of a reduce's pieces. Where each rank has a CPU, the root folds one piece
// while the others write the next.
std::int64_t ElementsOfReducePiece(Participant& self, const Reduction& it) {
  const std::int64_t room = ElementsOfPiece(self, it, self.ranks());
  if (self.shares_cpus()) return room;
  const std::int64_t piece =
      std::clamp(it.bytes() / 4, kPipelinePieceBytesMin, kPipelinePieceBytesMax);
  return std::min(room, std::max<std::int64_t>(1, piece / it.type->size));
}

// Folds all rows at one member. Its own row need not be at the board, because its input is nearer.
// The result may belong where this input is, and then it is folded block by block into a work area.
class OwnFold {
 public:
  OwnFold(const Participant& self, const Reduction& it) : self_(self), it_(it) {
    if (it.type->size > kFoldBlockBytes)
      large_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(it.type->size)]);
  }
  bool has_memory() const { return it_.type->size <= kFoldBlockBytes || large_ != nullptr; }

  // Folds `count` elements from `first` on. Those of the other members begin at `rows`.
  void Fold(const std::byte* rows, std::int64_t stride, std::int64_t first, std::int64_t count) {
    const std::int64_t size = it_.type->size;
    const bool straight = self_.ranks() == 2 && it_.input != it_.output;
    const std::int64_t step = straight ? count : std::max<std::int64_t>(1, kFoldBlockBytes / size);
    for (std::int64_t done = 0; done < count; done += step)
      Block(rows + done * size, stride, (first + done) * size, std::min(step, count - done));
  }

 private:
  void Block(const std::byte* rows, std::int64_t stride, std::int64_t offset, std::int64_t count) {
    std::byte* const work = large_ != nullptr ? large_.get() : small_;
    std::byte* const out = static_cast<std::byte*>(it_.output) + offset;
    const std::byte* const own = static_cast<const std::byte*>(it_.input) + offset;
    const auto row = [&](Rank rank) { return rank == self_.rank() ? own : rows + rank * stride; };
    const std::byte* const folded =
        FoldBlock(it_, self_.ranks(), count, RowsOf(self_), row, work, out);
    CopyBytes(folded, out, count * it_.type->size);
  }

  const Participant& self_;
  const Reduction& it_;
  std::unique_ptr<std::byte[]> large_;  // the work area for an element that does not fit a block
  alignas(kLineBytes) std::byte small_[kFoldBlockBytes];
};

bool EachFolds(Participant& self, const Reduction& it) {
  const std::int64_t size = it.type->size;
  const std::int64_t piece = ElementsOfPiece(self, it, self.ranks());
  const std::int64_t stride = Lines(piece * size);
  OwnFold fold(self, it);
  if (!fold.has_memory()) {
    self.Break();
    return false;
  }
  for (std::int64_t first = 0; first < it.count; first += piece) {
    if (!self.Begin(Writes::kSlot)) return false;
    const std::int64_t count = std::min(piece, it.count - first);
    const std::int64_t own_row = self.rank() * stride;
    CopyBytes(static_cast<const std::byte*>(it.input) + first * size, self.slot() + own_row,
              count * size);
    self.Arrive();
    self.FetchNext(self.next_slot() + own_row, count * size);
    if (!self.AwaitAll()) return false;
    fold.Fold(self.slot(), stride, first, count);
    self.Finish();
  }
  return true;
}

// The pieces of a long vector and their places.
class Pieces {
 public:
  Pieces(Participant& self, const Reduction& it) : self_(self), it_(it) {
    elements_ = ElementsOfPiece(self, it, self.ranks() + 1);
    stride_ = Lines(elements_ * it.type->size);
    count_ = (it.count + elements_ - 1) / elements_;
    first_ = self.number() + 1;
  }
  std::int64_t count() const { return count_; }
  Number NumberOf(std::int64_t piece) const { return first_ + static_cast<Number>(piece); }

  // Writes all but the own slice, which nobody else folds.
  void Write(std::int64_t piece) const {
    const Slice own = SliceOf(piece);
    std::byte* const row = Row(piece, self_.rank());
    CopyBytes(At(it_.input, piece), row, own.begin);
    CopyBytes(At(it_.input, piece) + own.end, row + own.end, BytesOf(piece) - own.end);
  }
  void FoldSlice(std::int64_t piece) const {
    const Slice own = SliceOf(piece);
    if (own.begin == own.end) return;
    const auto row = [&](Rank rank) {
      return (rank == self_.rank() ? At(it_.input, piece) : Row(piece, rank)) + own.begin;
    };
    std::byte* const result = Row(piece, self_.ranks()) + own.begin;
    FoldBlock(it_, self_.ranks(), (own.end - own.begin) / it_.type->size, RowsOf(self_), row,
              result, result);
  }
  void Read(std::int64_t piece) const {
    CopyBytes(Row(piece, self_.ranks()), const_cast<std::byte*>(At(it_.output, piece)),
              BytesOf(piece));
  }

 private:
  std::int64_t ElementsOf(std::int64_t piece) const {
    return std::min(elements_, it_.count - piece * elements_);
  }
  // The bytes of a piece that this member folds.
  struct Slice {
    std::int64_t begin, end;
  };
  Slice SliceOf(std::int64_t piece) const {
    const std::int64_t all = ElementsOf(piece);
    return {all * self_.rank() / self_.ranks() * it_.type->size,
            all * (self_.rank() + 1) / self_.ranks() * it_.type->size};
  }
  std::int64_t BytesOf(std::int64_t piece) const { return ElementsOf(piece) * it_.type->size; }
  const std::byte* At(const void* vector, std::int64_t piece) const {
    return static_cast<const std::byte*>(vector) + piece * elements_ * it_.type->size;
  }
  // The result has a row behind the last member's.
  std::byte* Row(std::int64_t piece, Rank rank) const {
    return self_.board().slot(NumberOf(piece)) + rank * stride_;
  }

  Participant& self_;
  const Reduction& it_;
  std::int64_t elements_;
  std::int64_t stride_;
  std::int64_t count_;
  Number first_;
};

bool InPieces(Participant& self, const Reduction& it) {
  const Pieces pieces(self, it);
  for (std::int64_t step = 0; step <= pieces.count(); ++step) {
    if (!self.Begin(Writes::kSlot)) return false;
    if (step < pieces.count()) pieces.Write(step);
    if (step >= 1) pieces.FoldSlice(step - 1);
    if (step >= 2) {
      pieces.Read(step - 2);
      self.Finish(pieces.NumberOf(step - 2));
    }
    if (!self.Meet()) return false;
  }
  pieces.Read(pieces.count() - 1);
  self.Finish();
  return true;
}

}  // namespace

bool Fits(const datatype::Datatype& type, Rank ranks, std::uint64_t slot_bytes) {
  return type.contiguous && type.extent == type.size && type.true_lower == 0 &&
         Lines(type.size) * (ranks + 1) <= static_cast<std::int64_t>(slot_bytes);
}

bool Allreduce(Participant& self, const Reduction& it) {
  if (IsInline(it)) return AllreduceInline(self, it);
  if (self.shares_cpus()) return LastCanFold(self, it) ? LastFolds(self, it) : InPieces(self, it);
  const bool each = self.ranks() == 2 || it.bytes() <= kFoldedWholeBytesMax;
  return each ? EachFolds(self, it) : InPieces(self, it);
}

bool Reduce(Participant& self, Rank root, const Reduction& it) {
  const bool is_root = self.rank() == root;
  const bool is_inline = IsInline(it);
  const std::int64_t piece = is_inline ? it.count : ElementsOfReducePiece(self, it);
  const std::int64_t size = it.type->size;
  const std::int64_t stride = is_inline ? std::int64_t{sizeof(Post)} : Lines(piece * size);
  const std::int64_t row_bytes = stride * self.ranks();
  OwnFold fold(self, it);
  if (is_root && !fold.has_memory()) {
    self.Break();
    return false;
  }
  std::int64_t first = 0;
  do {
    const std::int64_t count = std::min(piece, it.count - first);
    std::byte* const rows =
        is_inline ? self.BeginPosts(!is_root) : self.BeginRow(!is_root, row_bytes);
    if (rows == nullptr) return false;
    const std::int64_t own_row = self.rank() * stride;
    if (is_root) {
      if (!is_inline) self.FetchNext(self.next_row(row_bytes) + own_row, count * size);
      for (Rank rank = self.ranks() - 1; rank >= 0; --rank)
        if (rank != root && !self.Await(rank)) return false;
      fold.Fold(rows, stride, first, count);
    } else {
      CopyBytes(static_cast<const std::byte*>(it.input) + first * size, rows + own_row,
                count * size);
      self.Publish();
      if (!is_inline) self.FetchNext(self.next_row(row_bytes) + own_row, count * size);
    }
    self.Finish();
    first += piece;
  } while (first < it.count);
  return true;
}

}  // namespace lamina::collective::board
