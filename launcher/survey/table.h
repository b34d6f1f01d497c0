// SPDX-License-Identifier: BSD-3-Clause
// Sets rows of words in columns for a person. The last column is left as it comes.
#pragma once

#include <string>
#include <vector>

namespace lamina::launcher {

std::string InColumns(const std::vector<std::vector<std::string>>& rows);

}  // namespace lamina::launcher
