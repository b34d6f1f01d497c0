// SPDX-License-Identifier: BSD-3-Clause
// Reads small files without the streams of the C++ library, whose locales slow every start down.
#pragma once

#include <optional>
#include <string>

namespace lamina {

// Returns what can be read of a file; nothing if it cannot be opened.
std::optional<std::string> ReadFile(const std::string& path);

}  // namespace lamina
