// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives at a board. Each is written for any length: what does not fit goes in
// pieces, and each piece is an operation of its own at the board.
//
// All members call a function with the same root and number of bytes. Datatypes may differ where
// the standard allows that. A function returns false if the board is broken, and the output is
// undefined then.
//
// Reductions fold from the last rank to the first each time, so all members get the same bits and
// the operation need not be commutative.
#pragma once

#include <cstdint>
#include <span>

#include "collectives/board/participant.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

namespace lamina::collective::board {

using datatype::Buffer;

// One block of data for each member, all of one length.
struct Blocks {
  Buffer first;
  // Where each block begins, in elements from the address of `first`. Without them, the blocks lie
  // one after the other.
  std::span<const std::int64_t> places{};

  Buffer At(Rank rank) const {
    const std::int64_t place =
        places.empty() ? rank * first.count : places[static_cast<std::size_t>(rank)];
    return {datatype::At(first.address, place * first.type->extent), first.count, first.type};
  }
  // All blocks as one buffer, where they lie one after the other.
  Buffer All(Rank ranks) const { return {first.address, first.count * ranks, first.type}; }
};

bool Barrier(Participant& self);
// With zero bytes this still synchronises: every other member waits until the root has called.
bool Bcast(Participant& self, Rank root, const Buffer& data);

// Can elements of this type be reduced at a board? They must have no holes, and a slot must hold
// one of each member. The answer is the same on all members.
bool Fits(const datatype::Datatype& type, Rank ranks, std::uint64_t slot_bytes);
struct Reduction {
  const void* input;  // may be `output`
  void* output;       // null on a member that gets no result
  std::int64_t count;
  const datatype::Datatype* type;  // one that Fits
  const datatype::Op* op;

  std::int64_t bytes() const { return count * type->size; }
};
bool Allreduce(Participant& self, const Reduction& it);
// With zero elements this still synchronises: the root waits until all others have called.
bool Reduce(Participant& self, Rank root, const Reduction& it);

// `own` is this member's block, and may be its place in `all`.
bool Allgather(Participant& self, const Buffer& own, const Blocks& all);
// `all` is used at the root only.
bool Gather(Participant& self, Rank root, const Buffer& own, const Blocks& all);
bool Scatter(Participant& self, Rank root, const Blocks& all, const Buffer& own);
// `out` may be the same blocks as `in`.
bool Alltoall(Participant& self, const Blocks& out, const Blocks& in);

// The functions below move long data straight between the members' buffers. All members must be
// able to reach each other's memory (memory.h).
enum class Outcome {
  kDone,
  kBroken,     // The board is broken and the output undefined.
  kElsewhere,  // The data of some member is not contiguous, or is shorter, or can no longer be
               // reached (Participant::denied). The inputs are as they were, and all members must
               // take another way.
};
Outcome BcastDirect(Participant& self, Rank root, const Buffer& data);
Outcome AllgatherDirect(Participant& self, const Buffer& own, const Blocks& all);
// `out` and `in` are different blocks.
Outcome AlltoallDirect(Participant& self, const Blocks& out, const Blocks& in);
// An allreduce if `root` is -1. If memory can no longer be reached, the rest of the reduction goes
// through the board.
Outcome ReduceDirect(Participant& self, Rank root, const Reduction& it);
// Can elements of this type be reduced straight between the buffers?
bool FitsDirect(const datatype::Datatype& type);

}  // namespace lamina::collective::board
