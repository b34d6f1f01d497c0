// SPDX-License-Identifier: BSD-3-Clause
// Understands files of words of the command line (-configfile, -file).
//
// Each line of a configuration file is a program with its options, as it would stand between two
// colons; '#' begins a comment line and a '\\' at the end continues the line (MPI-5.0, section
// 11.5). Words are parted as a shell does it: 'single' and "double" quotes keep blanks, and a '\\'
// keeps the letter behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

// Returns the words of all lines. With `colons` a ":" stands between those of two lines. kInvalid:
// a quote does not end.
Result<std::vector<std::string>> WordsOfFile(std::string_view text, bool colons);

}  // namespace lamina::launcher
