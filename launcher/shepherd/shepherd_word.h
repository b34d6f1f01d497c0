// SPDX-License-Identifier: BSD-3-Clause
// The word that makes mpiexec a shepherd.
#pragma once

#include <string_view>

namespace lamina::launcher {

// It is the program's first word, and nothing else is on the command line of a shepherd.
inline constexpr std::string_view kShepherdWord = "--lamina-shepherd";

}  // namespace lamina::launcher
