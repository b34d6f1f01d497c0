// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <sys/time.h>

#include <cstddef>
#include <cstdint>

namespace lamina::launcher::control {

// So many connections may wait to be accepted; the kernel refuses further ones.
inline constexpr int kWaiting = 8;

// So many askers may be connected at the same time.
inline constexpr std::size_t kGuestsMax = 32;

// An asker that neither asks nor reads for this long is cut off.
inline constexpr timeval kPatience{5, 0};

// A launcher that ends lets askers read their answers for this long.
inline constexpr std::uint64_t kLastWordsMs = 2000;

}  // namespace lamina::launcher::control
