// SPDX-License-Identifier: BSD-3-Clause
// These constants decide which loop packs what. They change the speed and never the result, and
// `test/bench/run 'pack*' 'unpack*'` shows what a change does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::datatype {

// A loop of its own pays for a group of pieces of one size from this many pieces on.
inline constexpr std::int64_t kLoopPieces = 16;
// A grid is better than a list from this many pieces on in each of two dimensions.
inline constexpr std::int64_t kGridSide = 4;

// Copies of one child are written out while they are at most kWrittenOutMax runs. A layout that has
// kManyRuns already writes out fewer, so that its memory stays small.
inline constexpr std::int64_t kWrittenOutMax = 1024;
inline constexpr std::int64_t kWrittenOutMaxLate = 8;
inline constexpr std::size_t kManyRuns = 1 << 16;

// Moving each piece for many elements pays from kElementsForColumns elements on, if an element has
// at most kColumnsMax pieces.
inline constexpr std::int64_t kElementsForColumns = 4;
inline constexpr std::int64_t kColumnsMax = 32;
// A tile of elements takes at most this much, in memory and packed, to stay in the first-level
// cache.
inline constexpr std::int64_t kTileBytes = 16384;

// A grid larger than kCacheBytes comes from memory. If its elements lie within a page each, they
// are too short for the processor to learn to fetch ahead. Pieces of kFetchedPiece bytes and more
// are then loaded by one instruction, from which it learns sooner than from the four of Line(), and
// the beginning of the element kElementsAhead further on is prefetched.
inline constexpr std::int64_t kCacheBytes = 1 << 20;
inline constexpr std::int64_t kPageBytes = 4096;
inline constexpr std::int64_t kFetchedPiece = 32;
inline constexpr std::int64_t kElementsAhead = 4;

// This much of a message that another process has just written is prefetched before it is unpacked.
inline constexpr std::size_t kFreshBytesMax = 2048;

}  // namespace lamina::datatype
