// SPDX-License-Identifier: BSD-3-Clause
// The numbers that were chosen by measuring. What a user may want to change is in params.h instead.
// test/bench/results has the measurements.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace lamina::collective::board {

// --- the layout of a board, alike in all processes of a node -------------------------------------

// A root may be this many operations of a few bytes ahead of the slowest reader.
inline constexpr std::uint64_t kDepth = 128;
// Operations whose data is longer take turns in this many slots.
inline constexpr std::uint64_t kSlots = 4;
// A long Bcast cuts each slot into this many cells, so that it returns to a cache line less often.
inline constexpr std::uint64_t kCells = 2;
// The ring grows with the number of members, up to a size that stays in their caches.
inline constexpr std::size_t kRingBytesPerMember = 4 << 10, kRingBytesMax = 64 << 10;
// The ring remembers who used it last in segments of this size.
inline constexpr std::size_t kRingSegmentBytes = 1 << 10;

// --- which place short data has ------------------------------------------------------------------

// A row goes through the ring if at least this many rows of its length fit there. Where each rank
// has a CPU the limit is stricter, because rows that lie side by side are slower to take back from
// their readers than rows in slots.
inline constexpr std::size_t kRingRowsMinShared = 8, kRingRowsMinExclusive = 32;
// Blocks up to this length are copied as one row; of longer ones a member copies its own while it
// waits for the others.
inline constexpr std::int64_t kShortBlockBytesMax = 4 << 10;
// A reduction up to this length is folded as a whole by one member, or by each.
inline constexpr std::int64_t kFoldedWholeBytesMax = 4 << 10;

// --- how long data is cut ------------------------------------------------------------------------

// Bcast where ranks share CPUs: each rank runs once per round of pieces, so the pieces of one round
// should fit the second-level cache together.
inline constexpr std::int64_t kSharedBcastWholeBytesMax = 256 << 10;
inline constexpr std::int64_t kSharedBcastPieceBytes = 64 << 10;
// Bcast and Reduce where each rank has a CPU: a quarter of the data, within these bounds, so that
// some members work on one piece while others work on the next.
inline constexpr std::int64_t kPipelinePieceBytesMin = 16 << 10, kPipelinePieceBytesMax = 64 << 10;
// Allgather: the pieces of all members together should still be in a cache when they are read.
inline constexpr std::int64_t kAllgatherPiecesBytesMax = 512 << 10;
// Alltoall: among many members shorter pieces would make every copy start anew.
inline constexpr std::int64_t kAlltoallPieceBytesMin = 64 << 10;
// Reductions: a long vector has several rows, so that one member writes while another folds.
inline constexpr std::int64_t kReductionRowBytesMax = 128 << 10;
// Reductions fold into a work area of this size on the stack where the result may not be written
// yet.
inline constexpr std::int64_t kFoldBlockBytes = 8 << 10;
// Reductions straight between the buffers: two pieces should fit the second-level cache.
inline constexpr std::int64_t kDirectPieceBytes = 128 << 10;

// --- caches --------------------------------------------------------------------------------------

// If all members together write at least this much output, no useful part of it is still cached
// when it is read, and streaming stores write it faster.
inline constexpr std::int64_t kStreamedOutputBytesMin = 32 << 20;
// A member fetches the lines of its next row for writing while it waits, if the row is not longer.
inline constexpr std::int64_t kFetchBytesMax = 4 << 10;
// A fold asks for this much ahead of the loop that combines, unless the vector is so long that the
// processor sees by itself where it is read.
inline constexpr std::int64_t kAheadBytes = 2 << 10;
inline constexpr std::int64_t kAheadVectorBytesMax = 256 << 10;

// --- waiting -------------------------------------------------------------------------------------

// A waiting member makes messages progress once in so many looks at the board, because a look at
// all rings costs much more than one at the board.
inline constexpr std::uint32_t kPollsPerProgress = 64;
inline constexpr std::uint32_t kYieldsPerProgress = 8;
// A member that waits for longer asks whether the others are still alive, which takes system calls.
inline constexpr std::chrono::milliseconds kLookAroundEvery{500};

// --- which way a call takes ----------------------------------------------------------------------

// Where each rank has a CPU, members look at every other's post, which pays up to this many.
inline constexpr int kFaceToFaceRanksMax = 16;
// A trial of a way ends when so many calls in a row were no faster, or after kTriesMax calls. The
// first calls find the slots as another way left them, so all slots should have had their turn.
inline constexpr std::uint32_t kTriesInVain = 5, kTriesMax = 12;
static_assert(kTriesInVain >= kSlots);
// A long call goes around all slots by itself, and touches all memory in the first call.
inline constexpr std::uint32_t kTriesInVainOfLong = 2, kCallsBeforeTrialOfLong = 1;
// A gain below one part in this many is taken for noise.
inline constexpr std::int64_t kTrialGainShare = 32;

}  // namespace lamina::collective::board
