// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::checkpoint::criu {

// `criu --version` gets this long. A program that takes longer is not criu, or its disk is gone.
inline constexpr std::uint64_t kVersionMs = 10'000;

// How often a run is looked at that has not ended.
inline constexpr std::uint64_t kLookEachMs = 1000;

// So much of what criu printed is looked at for its first error.
inline constexpr std::size_t kPrintedBytesMax = 1 << 20;

}  // namespace lamina::checkpoint::criu
