// SPDX-License-Identifier: BSD-3-Clause
// Options that only other launchers have, and what to use instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

// Returns what to do instead of the option `name`, or "" if no other launcher is known to have it.
std::string_view ForeignAdvice(std::string_view name);

}  // namespace lamina::launcher
