// SPDX-License-Identifier: BSD-3-Clause
// The word that makes this program do an errand of `lamina` on the host it runs on.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lamina::launcher {

// It is the program's first word; the errand's name and its words follow.
inline constexpr std::string_view kNodeWord = "--lamina-node";

// Returns the exit status. `words` begin with the errand's name.
int RunNodeErrand(std::span<const std::string> words);

}  // namespace lamina::launcher
