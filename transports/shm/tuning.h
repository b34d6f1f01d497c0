// SPDX-License-Identifier: BSD-3-Clause
// Constants of this folder that no user should have to change. The measurements behind them are in
// test/bench/results.
#pragma once

#include <cstdint>

namespace lamina::shm {

// A poll looks at the ring that delivered last, then at the others that delivered lately, then at
// some of the rest in turns, which bounds its time however many peers there are.
inline constexpr std::uint32_t kRecentRings = 8;
inline constexpr std::uint32_t kOtherRingsPerPoll = 8;
// A process that shares its CPU yields after a poll that found nothing, and a yield takes longer
// than looking at many rings.
inline constexpr std::uint32_t kOtherRingsPerYield = 32;

// How often a process that goes to sleep asks whether its peers live.
inline constexpr std::uint64_t kLookAfterEveryMs = 200;
// A ring may stay full for as long as its reader computes. This many refused sends pass between two
// questions whether the reader lives.
inline constexpr std::uint32_t kRefusalsPerLook = 4096;
// How often a reader looks for the end of its helper's chunk before it gives up the CPU; this takes
// about as long as copying a chunk.
inline constexpr std::uint32_t kLooksBeforeYield = 2000;

// Up to here a frame is copied twice at once if the peer's memory can be read quickly, and up to
// the second value if it cannot.
inline constexpr std::uint32_t kEagerBytesMax = 4096;
inline constexpr std::uint32_t kEagerBytesMaxElse = 16u * 1024;
// Reading is slow if each of this many reads of one word takes at least that long.
inline constexpr int kReadsTimed = 16;
inline constexpr std::uint64_t kSlowReadNs = 1000;

// A writer begins to fetch the lines of this many cells to come. A store to a line that the reader
// had takes as long as a message: without a lock the processor goes on meanwhile, but an atomic
// operation, as at MPI_THREAD_MULTIPLE, waits for all stores.
inline constexpr std::uint32_t kCellsAhead = 6;
// It does the same for the next payload in the area, taken to be as long as this one, up to this
// length. Intel's processors gain by it with long payloads; AMD's lose.
inline constexpr std::uint32_t kFetchBytesMax = 2u * 1024;
inline constexpr std::uint32_t kFetchBytesMaxIntel = 16u * 1024;
// How much of the area is used before its start is used again, if the reader has caught up: memory
// that was used lately is in the caches, and memory that was never used takes no pages.
inline constexpr std::uint32_t kAreaStepBytes = 32u * 1024;

// Two processes copy a long message in chunks within these bounds, where the kernel copies well.
inline constexpr std::uint64_t kChunkBytesMin = 32u * 1024;
inline constexpr std::uint64_t kChunkBytesMax = 256u * 1024;

}  // namespace lamina::shm
