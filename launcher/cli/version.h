// SPDX-License-Identifier: BSD-3-Clause
// The version of the launcher; the library of the same installation has the same.
#pragma once

namespace lamina::launcher {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace lamina::launcher
