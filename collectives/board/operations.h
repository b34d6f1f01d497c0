// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives at a board. Each is written for any length: what does not fit goes in
// pieces, each an operation of its own at the board.
//
// All members call with the same operation, root and number of bytes; datatypes may differ where
// the standard lets them. Every function returns false if a member died, and leaves the output
// undefined then.
//
// Reductions fold from the last rank to the first, each time the same, so all members get the same
// bits and the operation need not be commutative.
#pragma once

#include <cstdint>

#include "collectives/board/participant.h"
#include "runtime/datatype/datatype.h"
#include "runtime/datatype/op.h"

namespace lamina::collective::board {

using datatype::Buffer;

// One block of data for each member, one behind the other.
struct Blocks {
  Buffer first;

  Buffer At(Rank rank) const {
    return {datatype::At(first.address, rank * first.count * first.type->extent), first.count,
            first.type};
  }
  // All of them as one.
  Buffer All(Rank ranks) const { return {first.address, first.count * ranks, first.type}; }
};

bool Barrier(Participant& self);
// Of no bytes: the others wait for the root.
bool Bcast(Participant& self, Rank root, const Buffer& data);

// Reductions are for elements without holes, one of which for each member fits into a slot. The
// answer is the same on all members.
bool Fits(const datatype::Datatype& type, Rank ranks, std::uint64_t slot_bytes);
struct Reduction {
  const void* input;  // may be `output`
  void* output;       // null where there is no result
  std::int64_t count;
  const datatype::Datatype* type;  // Fits
  const datatype::Op* op;

  std::int64_t bytes() const { return count * type->size; }
};
bool Allreduce(Participant& self, const Reduction& it);
// Of no elements: the root waits for the others.
bool Reduce(Participant& self, Rank root, const Reduction& it);

// `own`: this member's block, which may be its place in `all`.
bool Allgather(Participant& self, const Buffer& own, const Blocks& all);
// `all` at the root.
bool Gather(Participant& self, Rank root, const Buffer& own, const Blocks& all);
bool Scatter(Participant& self, Rank root, const Blocks& all, const Buffer& own);
// `out` may be `in`.
bool Alltoall(Participant& self, const Blocks& out, const Blocks& in);

// Long data, straight between the members' buffers; only where all members can reach each other's
// memory (memory.h), and an element of a reduction is not too large.
enum class Outcome {
  kDone,
  kDied,       // a member did; the output is undefined
  kElsewhere,  // the data of some member is not in one piece, or not as much, or cannot be reached
               // any more (Participant::denied): all go another way, with the inputs as they were
};
Outcome BcastDirect(Participant& self, Rank root, const Buffer& data);
Outcome AllgatherDirect(Participant& self, const Buffer& own, const Blocks& all);
// `out` is not `in`.
Outcome AlltoallDirect(Participant& self, const Blocks& out, const Blocks& in);
// Allreduce if `root` is -1. What cannot be reached any more is done at the board: kDone.
Outcome ReduceDirect(Participant& self, Rank root, const Reduction& it);
bool FitsDirect(const datatype::Datatype& type);

}  // namespace lamina::collective::board
