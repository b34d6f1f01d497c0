// SPDX-License-Identifier: BSD-3-Clause
// Makes what --help prints: an overview, and a page for each topic with the options that belong to
// it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// Returns the page of `topic`, the overview for "" and every page for "all". kNotFound names the
// nearest topic. An option's name ("--map-by", "map-by") gives the page it is explained on.
Result<std::string> HelpText(std::string_view topic);

std::vector<std::string> HelpTopics();

// Breaks `text` at blanks so that no line is longer than `columns`, and indents every line but the
// first by `indent`.
std::string Wrap(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace lamina::launcher
