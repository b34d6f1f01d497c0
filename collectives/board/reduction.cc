// SPDX-License-Identifier: BSD-3-Clause
// Operations that combine data.
//
// A few bytes lie in the posts, more in rows of the slot.
//
// reduce: the root folds all rows, piece by piece; the others run ahead of it.
// allreduce: up to kWholeBytes one member folds all rows: the last to arrive, or, where everybody
// has a CPU, each for itself; of two members each does it at any length, because what it would read
// of the other's result it reads of its input instead. Longer vectors of more members go through in
// pieces: each member folds its slice of every piece, and one meeting serves three of them, so that
// n pieces take n + 1 meetings:
//
//   step i     write piece i     fold own slice of piece i - 1     read result of piece i - 2
//
// Cost:  two copies and one pass over every byte, one copy of a member's slice; meetings as above,
//        none for reduce. Where each folds all: one copy, and a pass over every byte of all.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "collectives/board/fold.h"
#include "collectives/board/operations.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/streaming.h"

namespace lamina::collective::board {
namespace {

constexpr std::int64_t kWholeBytes = 4 << 10;
// A member's row of a piece: a few of them make up a long vector, so that one member writes while
// another folds.
constexpr std::int64_t kRowBytesMax = 128 << 10;

constexpr std::int64_t kLine = kLineBytes;

constexpr std::int64_t Lines(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

void CopyBytes(const void* from, void* to, std::int64_t bytes) {
  if (from == to) return;
  memory::CopyLong(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                   static_cast<std::size_t>(bytes));
}

// Into a row that others fold.
void WriteRow(const Participant& self, const void* from, std::byte* row, std::int64_t bytes) {
  memory::Copy(row, static_cast<const std::byte*>(from), static_cast<std::size_t>(bytes),
               self.stores());
}

Rows RowsOf(const Participant& self) { return self.crowded() ? Rows::kNear : Rows::kAway; }

// `count` elements of every row; `rows` is where the first of them lies in the first row.
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
  if (self.crowded()) {
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

// Elements of a piece, of which `rows` fit into a slot.
std::int64_t ElementsOfPiece(Participant& self, const Reduction& it, std::int64_t rows) {
  const std::int64_t slot = static_cast<std::int64_t>(self.board().slot_bytes());
  const std::int64_t row = std::min(slot / rows, std::max(kRowBytesMax, Lines(it.type->size)));
  return std::min(it.count, row / kLine * kLine / it.type->size);
}

// The last to arrive can do it all: the rows and the result fit into the slot.
bool LastCanFold(Participant& self, const Reduction& it) {
  return it.bytes() <= kWholeBytes && Lines(it.bytes()) * (self.ranks() + 1) <=
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

// Elements of a piece of a reduce. With a CPU for each, the root folds one while the others write
// the next.
std::int64_t ElementsOfReducePiece(Participant& self, const Reduction& it) {
  const std::int64_t room = ElementsOfPiece(self, it, self.ranks());
  if (self.crowded()) return room;
  const std::int64_t piece = std::clamp<std::int64_t>(it.bytes() / 4, 16 << 10, 64 << 10);
  return std::min(room, std::max<std::int64_t>(1, piece / it.type->size));
}

// Folds all rows at one member, of which its own need not be at the board: its input is not as far
// away. A block at a time where it goes into `work` on its way, because the result may belong where
// the own input is.
class OwnFold {
 public:
  OwnFold(const Participant& self, const Reduction& it) : self_(self), it_(it) {
    if (it.type->size > kBlockBytes)
      large_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(it.type->size)]);
  }
  bool has_memory() const { return it_.type->size <= kBlockBytes || large_ != nullptr; }

  // `count` elements from `first` on; the other members' begin at `rows`.
  void Fold(const std::byte* rows, std::int64_t stride, std::int64_t first, std::int64_t count) {
    const std::int64_t size = it_.type->size;
    const bool straight = self_.ranks() == 2 && it_.input != it_.output;
    const std::int64_t step = straight ? count : std::max<std::int64_t>(1, kBlockBytes / size);
    for (std::int64_t done = 0; done < count; done += step)
      Block(rows + done * size, stride, (first + done) * size, std::min(step, count - done));
  }

 private:
  static constexpr std::int64_t kBlockBytes = 8 << 10;

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
  std::unique_ptr<std::byte[]> large_;  // for an element that does not fit a block
  alignas(kLineBytes) std::byte small_[kBlockBytes];
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
    WriteRow(self, static_cast<const std::byte*>(it.input) + first * size, self.slot() + own_row,
             count * size);
    self.Arrive();
    self.FetchNext(self.next_slot() + own_row, count * size);
    if (!self.AwaitAll()) return false;
    fold.Fold(self.slot(), stride, first, count);
    self.Finish();
  }
  return true;
}

// The pieces of a long vector, and where they are.
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

  // All but the own slice, which nobody else folds.
  void Write(std::int64_t piece) const {
    const Slice own = SliceOf(piece);
    std::byte* const row = Row(piece, self_.rank());
    WriteRow(self_, At(it_.input, piece), row, own.begin);
    WriteRow(self_, At(it_.input, piece) + own.end, row + own.end, BytesOf(piece) - own.end);
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
  // Bytes of a piece that this member folds.
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
  // The row behind the last member's is the result.
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
  if (self.crowded()) return LastCanFold(self, it) ? LastFolds(self, it) : InPieces(self, it);
  const bool each = self.ranks() == 2 || it.bytes() <= kWholeBytes;
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
      WriteRow(self, static_cast<const std::byte*>(it.input) + first * size, rows + own_row,
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
