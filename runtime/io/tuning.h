// SPDX-License-Identifier: BSD-3-Clause
// These constants say how accesses are cut; nobody needs to change them.
#pragma once

#include <cstdint>

namespace lamina::io {

// Data that is not contiguous in memory is packed in chunks of this size.
inline constexpr std::int64_t kChunkBytes = 1 << 20;

// Pieces of a file are looked at in batches of this many, so that no list grows with their
// number.
inline constexpr int kBatchRuns = 1024;

// Short pieces that lie within a window of this size are read at once, unless a hint says another.
inline constexpr std::int64_t kReadWindowBytes = 4 << 20;

// Short pieces within a window of this size are written back at once, which keeps others
// waiting.
inline constexpr std::int64_t kWriteWindowBytes = 512 << 10;

// A run of this size is worth a system call of its own.
inline constexpr std::int64_t kLongRunBytes = 4096;

// Pieces are moved one by one if the window would have this many times their bytes.
inline constexpr std::int64_t kSparse = 32;

// So many runs of an access are looked at to learn how long they are.
inline constexpr int kProbedRuns = 32;

}  // namespace lamina::io
