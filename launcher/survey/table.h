// SPDX-License-Identifier: BSD-3-Clause
// Rows of words in columns for a person, the last column as it comes.
#pragma once

#include <string>
#include <vector>

namespace lamina::launcher {

std::string InColumns(const std::vector<std::vector<std::string>>& rows);

}  // namespace lamina::launcher
