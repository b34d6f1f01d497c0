// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <sys/time.h>
#include <cstddef>

namespace lamina::launcher::control {

// Connections that wait to be accepted; further ones are refused by the kernel.
inline constexpr int kWaiting = 8;

// Users that may be asking at the same time.
inline constexpr std::size_t kGuestsMax = 32;

// A guest that neither asks nor reads for this long is shown out.
inline constexpr timeval kPatience{5, 0};

}  // namespace lamina::launcher::control
