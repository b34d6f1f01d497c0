// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lamina::checkpoint {

// What is appended to the name of a folder that is no generation, or not yet.
inline constexpr std::string_view kPartEnding = ".part";

// Files are read for their checksums in pieces of this size, which stay in the processor's cache.
inline constexpr std::size_t kReadBytes = 256 * 1024;

// The kernel copies files in pieces of this size.
inline constexpr std::size_t kCopyBytes = std::size_t{16} << 20;

// Whoever claims a directory waits so long for a job that is about to end there, because it was
// killed a moment ago or has just been saved to end, and looks this often.
inline constexpr std::uint64_t kClaimMs = 5000;
inline constexpr int kClaimAgainMs = 10;

// No manifest is longer; a longer file is refused before memory is taken for it.
inline constexpr std::uint64_t kManifestBytesMax = std::uint64_t{1} << 30;

}  // namespace lamina::checkpoint
