// SPDX-License-Identifier: BSD-3-Clause
// How long data are cut into segments. All of these were chosen by measuring (test/bench/results).
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::collective::hierarchical {

// No segment is shorter, because a shorter message costs its latency rather than its bytes.
inline constexpr std::int64_t kSegmentBytesMin = 16 << 10;

// A plan without boards has up to two strands: one moves a segment within the node while the other
// one's crosses, and a third would only get in their way.
inline constexpr int kStrandsMax = 2;

// A bcast without boards has segments up to this long: everybody who passes one on waits for its
// last byte, but also takes a turn for it.
inline constexpr std::int64_t kBcastBytesMax = 224 << 10;
// Longer data have longer segments instead of a longer plan.
inline constexpr int kBcastSegmentsMax = 1024;
// A leader at a board answers every second segment it hears.
inline constexpr std::size_t kSegmentsPerAnswer = 2;

// A segment that a leader folds should stay in its cache.
inline constexpr std::int64_t kFoldBytesMax = 256 << 10;
// At a board it should also pass in one piece.
inline constexpr std::int64_t kFoldBytesMaxAtBoard = 128 << 10;
// Longer data have longer segments instead of a longer plan.
inline constexpr int kFoldSegmentsMax = 256;
// Where ranks share CPUs each round of leaders costs turns of all ranks, so an allreduce at boards
// has segments as long as the scratch that a communicator keeps allows.
inline constexpr std::int64_t kFoldBytesMaxWhereCrowded = 1 << 20;

// A short slice is across soon, so the next stage can begin.
inline constexpr std::int64_t kSliceBytesMax = 128 << 10;
// The slices of one segment together stay in a cache, and in scratch that a communicator keeps.
inline constexpr std::int64_t kSlicedBytesMax = 2 << 20;

}  // namespace lamina::collective::hierarchical
