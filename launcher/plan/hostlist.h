// SPDX-License-Identifier: BSD-3-Clause
// Understands ranges in host names, as Slurm and people write them: "node[01-16,20],gpu-[1-2]-ib".
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// More hosts than this are a mistake.
inline constexpr std::size_t kHostsMax = 1u << 18;

// Returns the pieces of `text` between commas outside brackets, untouched.
std::vector<std::string_view> SplitOutsideBrackets(std::string_view text);

// Expands one name with any number of brackets, each a list of numbers and ranges, into every
// combination; the last bracket runs fastest. Zeros in front are kept: [08-10] is 08, 09, 10. A
// name without brackets is itself. kInvalid: empty or unbalanced brackets, no number, a range that
// runs backwards, more than kHostsMax names.
Result<std::vector<std::string>> ExpandHostName(std::string_view name);

// Expands a list of such names. Repeated names are kept.
Result<std::vector<std::string>> ExpandHostNames(std::string_view list);

// Does the opposite, short: "node1,node2,node4" -> "node[1-2,4]". Neighbours with the same letters
// in front of and behind their last number are folded; the order and the meaning stay.
std::string FoldHostNames(const std::vector<std::string>& names);

}  // namespace lamina::launcher
