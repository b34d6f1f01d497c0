// SPDX-License-Identifier: BSD-3-Clause
// What --help prints: an overview, and a page for each topic with the options that belong to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// `topic` "": the overview; "all": every page. kNotFound names the nearest topic. An option's name
// ("--map-by", "map-by") gives the page it is explained on.
Result<std::string> HelpText(std::string_view topic);

std::vector<std::string> HelpTopics();

// `text` broken at blanks so that no line is longer than `columns`; every line but the first is
// indented by `indent`.
std::string Wrap(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace lamina::launcher
