// SPDX-License-Identifier: BSD-3-Clause
// Reads the small files that people write by hand, and quotes them in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

// Returns the words of a line, which are parted by blanks of any kind.
std::vector<std::string_view> Words(std::string_view line);

// Returns `text` in quotes, printable and not too long.
std::string Quote(std::string_view text);

}  // namespace lamina::launcher
