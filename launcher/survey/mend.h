// SPDX-License-Identifier: BSD-3-Clause
// How to mend what keeps a host from taking part.
#pragma once

#include <string>
#include <string_view>

namespace lamina::launcher {

// `problem` is what lamina check says of `host`: ssh's own words, a difference, a shepherd's end.
// Returns what to do, or "" if that is not known or said already. Pure.
std::string MendOf(std::string_view problem, std::string_view host);

}  // namespace lamina::launcher
