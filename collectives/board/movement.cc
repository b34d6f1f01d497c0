// SPDX-License-Identifier: BSD-3-Clause
// Operations that move data.
//
// Where it lies: a few bytes of one member are in its post. A short row of bcast, gather or scatter
//        is in the ring. Everything else is in the slot of the operation: the root's piece of
//        a bcast, or a cell of the slot if the bcast is long; a row of pieces, one for each member,
//        of gather, scatter and allgather; a row for each sender of an alltoall, with pieces for
//        all or some of the others.
// Cost:  every byte is copied twice, except a long block that stays with its member in an alltoall,
//        which is copied once. Barrier, allgather and alltoall take one meeting for each piece. The
//        others take none: a member that only writes goes on at once for as long as there is room.
#include <algorithm>
#include <cstring>

#include "collectives/board/operations.h"
#include "collectives/board/output.h"
#include "runtime/memory/copy.h"

namespace lamina::collective::board {
namespace {

// The length of a bcast's pieces.
std::int64_t BcastPiece(const Participant& self, std::int64_t bytes) {
  if (self.shares_cpus())
    return bytes <= kSharedBcastWholeBytesMax ? bytes : kSharedBcastPieceBytes;
  return std::clamp(bytes / 4, kPipelinePieceBytesMin, kPipelinePieceBytesMax);
}

// Copies bytes [position, position + bytes) of the packed `from` to `to`.
void Take(const Buffer& from, std::int64_t position, std::int64_t bytes, std::byte* to) {
  const auto size = static_cast<std::size_t>(bytes);
  if (from.contiguous()) {
    memory::CopyLong(to, from.data() + position, size);
  } else {
    datatype::Pack(from, position, {to, size});
  }
}

// The inverse of Take.
void Give(const std::byte* from, std::int64_t bytes, const Buffer& to, std::int64_t position,
          memory::Stores stores = memory::Stores::kOrdinary) {
  const auto size = static_cast<std::size_t>(bytes);
  if (to.contiguous()) {
    memory::Copy(to.data() + position, from, size, stores);
  } else {
    datatype::Unpack({from, size}, position, to);
  }
}

// Are both the same data, as in a call in place? Equal addresses alone do not say so: one structure
// may hold both, and MPI_BOTTOM is the address of everything.
bool IsSame(const Buffer& from, const Buffer& to) {
  return from.address == to.address && from.type == to.type && from.count == to.count;
}

// Copies bytes [position, position + bytes) of a block that stays with its member. `place` is
// memory to pack them into if that is necessary.
void CopyOwn(const Buffer& from, const Buffer& to, std::int64_t position, std::int64_t bytes,
             std::byte* place, memory::Stores stores) {
  if (IsSame(from, to)) return;
  if (from.contiguous() && to.contiguous()) {
    const auto size = static_cast<std::size_t>(bytes);
    memory::Copy(to.data() + position, from.data() + position, size, stores);
  } else {
    Take(from, position, bytes, place);
    Give(place, bytes, to, position);
  }
}

// The largest piece of a block of `bytes` such that `count` pieces fit a slot, or `room_max`.
std::int64_t Piece(Participant& self, std::int64_t bytes, std::int64_t count,
                   std::int64_t room_max = INT64_MAX) {
  std::int64_t room =
      std::min(static_cast<std::int64_t>(self.board().slot_bytes()), room_max) / count;
  if (room > static_cast<std::int64_t>(kLineBytes)) room &= ~std::int64_t{kLineBytes - 1};
  return std::min(bytes, std::max<std::int64_t>(room, 1));
}

// One operation in which the root writes and the others read what it has written. `begin(writes)`
// starts it and returns the place, or null if the board is broken.
template <class Begin, class Write, class Read>
bool Tell(Participant& self, Rank root, const Begin& begin, const Write& write, const Read& read) {
  const bool is_root = self.rank() == root;
  std::byte* const place = begin(is_root);
  if (place == nullptr) return false;
  if (is_root) {
    write(place);
    self.Publish();
  } else {
    if (!self.Await(root)) return false;
    read(place);
  }
  self.Finish();
  return true;
}

// Starts an operation in which the root alone writes `bytes`. A few bytes are in its post, so that
// a reader needs one line only.
std::byte* BeginOfRoot(Participant& self, Rank root, bool writes, std::int64_t bytes) {
  if (bytes > static_cast<std::int64_t>(kInlineBytes)) return self.BeginRow(writes, bytes);
  return self.BeginPosts(writes) != nullptr ? self.post(root).data : nullptr;
}

// Copies a column to the blocks of `in`: what they get begins at `from` and at each `stride`
// behind.
void GiveColumn(const std::byte* from, std::int64_t stride, Rank ranks, const Blocks& in) {
  const std::int64_t bytes = in.first.bytes();
  if (in.first.contiguous()) {
    std::byte* const to = in.first.data();
    for (Rank rank = 0; rank < ranks; ++rank)
      memory::CopyLong(to + rank * bytes, from + rank * stride, static_cast<std::size_t>(bytes));
  } else {
    for (Rank rank = 0; rank < ranks; ++rank) Give(from + rank * stride, bytes, in.At(rank), 0);
  }
}

// An alltoall of blocks so short that a member copies its row of blocks as one.
bool AlltoallOfRows(Participant& self, const Blocks& out, const Blocks& in) {
  const std::int64_t bytes = in.first.bytes();
  const std::int64_t row = bytes * self.ranks();
  if (!self.Begin(Writes::kSlot)) return false;
  Take(out.All(self.ranks()), 0, row, self.slot() + self.rank() * row);
  self.Arrive();
  self.FetchNext(self.next_slot() + self.rank() * row, row);
  if (!self.AwaitAll()) return false;
  GiveColumn(self.slot() + self.rank() * bytes, row, self.ranks(), in);
  self.Finish();
  return true;
}

// What a slot holds in an alltoall of longer blocks: `piece` bytes from each member for as many
// others as there is room for. In step s, member r and member s - r (modulo the number of members)
// exchange their pieces, so one buffer can be both output and input.
struct Tile {
  Tile(Participant& self, std::int64_t bytes)
      : piece(std::max(Piece(self, bytes, self.ranks() * self.ranks()),
                       Piece(self, std::min(bytes, kAlltoallPieceBytesMin), self.ranks()))),
        steps(static_cast<Rank>(
            std::min<std::int64_t>(self.ranks(), Piece(self, INT64_MAX, self.ranks()) / piece))) {}

  // Calls visit(the other member, where this one writes for it, where it has written for this one)
  // for each of the steps from `first` on.
  template <class Visit>
  void ForEach(Participant& self, Rank first, const Visit& visit) const {
    for (Rank step = first; step < std::min<Rank>(first + steps, self.ranks()); ++step) {
      const Rank other = (step + self.ranks() - self.rank()) % self.ranks();
      const auto place = [&](Rank rank) {
        return self.slot() + (rank * steps + step - first) * piece;
      };
      visit(other, place(self.rank()), place(other));
    }
  }

  std::int64_t piece;  // bytes
  Rank steps;
};

}  // namespace

bool Barrier(Participant& self) {
  if (!self.Begin(self.shares_cpus() ? Writes::kNothing : Writes::kPost) || !self.Meet())
    return false;
  self.Finish();
  return true;
}

bool Bcast(Participant& self, Rank root, const Buffer& data) {
  const std::int64_t bytes = data.bytes();
  std::int64_t piece = std::min(Piece(self, bytes, 1), BcastPiece(self, bytes));
  const bool in_cells = bytes > std::int64_t{kSlots} * piece;
  if (in_cells) piece = std::min(Piece(self, bytes, kCells), piece);
  std::int64_t done = 0;
  do {
    const std::int64_t now = std::min(piece, bytes - done);
    const auto begin = [&](bool writes) -> std::byte* {
      if (!in_cells) return BeginOfRoot(self, root, writes, now);
      // Once the call has used a slot itself, only its own readers matter there.
      const bool used = done >= std::int64_t{kSlots} * piece;
      if (!self.Begin(!writes ? Writes::kNothing : used ? Writes::kCell : Writes::kSlot))
        return nullptr;
      return self.cell(piece);
    };
    const auto write = [&](std::byte* place) { Take(data, done, now, place); };
    const auto read = [&](const std::byte* place) { Give(place, now, data, done); };
    if (!Tell(self, root, begin, write, read)) return false;
    done += now;
  } while (done < bytes);
  return true;
}

bool Allgather(Participant& self, const Buffer& own, const Blocks& all) {
  const std::int64_t bytes = own.bytes();
  const std::int64_t piece = Piece(self, bytes, self.ranks(), kAllgatherPiecesBytesMax);
  const bool is_short = bytes <= kShortBlockBytesMax && piece == bytes && all.places.empty();
  const Buffer whole = all.All(self.ranks());
  const Buffer mine = all.At(self.rank());
  const memory::Stores stores = StoresOfOutput(self, bytes);
  for (std::int64_t done = 0; done < bytes; done += piece) {
    const std::int64_t now = std::min(piece, bytes - done);
    if (!self.Begin(Writes::kSlot)) return false;
    std::byte* const row = self.slot();
    Take(own, done, now, row + self.rank() * now);
    self.Arrive();
    self.FetchNext(self.next_slot() + self.rank() * now, now);
    if (!is_short && !IsSame(own, mine))
      Give(own.contiguous() ? own.data() + done : row + self.rank() * now, now, mine, done, stores);
    if (!self.AwaitAll()) return false;
    if (is_short) {
      Give(row, bytes * self.ranks(), whole, 0);
    } else {
      for (Rank rank = 0; rank < self.ranks(); ++rank)
        if (rank != self.rank()) Give(row + rank * now, now, all.At(rank), done, stores);
    }
    self.Finish();
  }
  return true;
}

bool Gather(Participant& self, Rank root, const Buffer& own, const Blocks& all) {
  const std::int64_t bytes = own.bytes();
  const bool is_inline = bytes <= static_cast<std::int64_t>(kInlineBytes);
  const std::int64_t piece = is_inline ? bytes : Piece(self, bytes, self.ranks());
  const bool is_root = self.rank() == root;
  for (std::int64_t done = 0; done < bytes; done += piece) {
    const std::int64_t now = std::min(piece, bytes - done);
    std::byte* const row =
        is_inline ? self.BeginPosts(!is_root) : self.BeginRow(!is_root, now * self.ranks());
    if (row == nullptr) return false;
    const std::int64_t stride = is_inline ? std::int64_t{sizeof(Post)} : now;
    if (!is_root) {
      Take(own, done, now, row + self.rank() * stride);
      self.Publish();
    }
    for (Rank rank = 0; is_root && rank < self.ranks(); ++rank) {
      if (rank == root) continue;
      if (!self.Await(rank)) return false;
      Give(row + rank * stride, now, all.At(rank), done);
    }
    self.Finish();
  }
  if (is_root && !IsSame(own, all.At(root))) datatype::Copy(own, all.At(root));
  return true;
}

bool Scatter(Participant& self, Rank root, const Blocks& all, const Buffer& own) {
  const std::int64_t bytes = own.bytes();
  const std::int64_t piece = Piece(self, bytes, self.ranks());
  for (std::int64_t done = 0; done < bytes; done += piece) {
    const std::int64_t now = std::min(piece, bytes - done);
    const auto begin = [&](bool writes) {
      return BeginOfRoot(self, root, writes, now * self.ranks());
    };
    const auto write = [&](std::byte* row) {
      for (Rank rank = 0; rank < self.ranks(); ++rank)
        if (rank != root) Take(all.At(rank), done, now, row + rank * now);
    };
    const auto read = [&](const std::byte* row) { Give(row + self.rank() * now, now, own, done); };
    if (!Tell(self, root, begin, write, read)) return false;
  }
  if (self.rank() == root && !IsSame(own, all.At(root))) datatype::Copy(all.At(root), own);
  return true;
}

bool Alltoall(Participant& self, const Blocks& out, const Blocks& in) {
  const std::int64_t bytes = in.first.bytes();
  if (bytes <= kShortBlockBytesMax && Piece(self, bytes, self.ranks() * self.ranks()) == bytes)
    return AlltoallOfRows(self, out, in);
  const Tile tile(self, bytes);
  const memory::Stores stores = StoresOfOutput(self, bytes);
  for (Rank first = 0; first < self.ranks(); first += tile.steps) {
    for (std::int64_t done = 0; done < bytes; done += tile.piece) {
      const std::int64_t now = std::min(tile.piece, bytes - done);
      if (!self.Begin(Writes::kSlot)) return false;
      tile.ForEach(self, first, [&](Rank other, std::byte* to, std::byte*) {
        if (other != self.rank()) Take(out.At(other), done, now, to);
      });
      self.Arrive();
      tile.ForEach(self, first, [&](Rank other, std::byte* place, std::byte*) {
        if (other == self.rank()) CopyOwn(out.At(other), in.At(other), done, now, place, stores);
      });
      if (!self.AwaitAll()) return false;
      tile.ForEach(self, first, [&](Rank other, std::byte*, const std::byte* from) {
        if (other != self.rank()) Give(from, now, in.At(other), done, stores);
      });
      self.Finish();
    }
  }
  return true;
}

}  // namespace lamina::collective::board
