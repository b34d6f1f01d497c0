// SPDX-License-Identifier: BSD-3-Clause
// Reading the small files people write by hand, and quoting them in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

// The words of a line, parted by blanks of any kind.
std::vector<std::string_view> Words(std::string_view line);

// In quotes, printable and not too long.
std::string Quote(std::string_view text);

}  // namespace lamina::launcher
