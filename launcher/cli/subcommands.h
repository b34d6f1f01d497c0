// SPDX-License-Identifier: BSD-3-Clause
// The words of `lamina`: its subcommands and what they say of themselves. Usage texts, manual page
// and completion are made from this table; what they do is in the tables of lamina.cc and
// launcher/main.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

struct Subcommand {
  const char* name;
  const char* help;   // one line
  const char* usage;  // what --help prints
};

std::span<const Subcommand> Subcommands();

// Returns the usage text of a subcommand in the table.
const char* UsageOf(std::string_view name);

// Returns the options that the usage text lists, at the beginnings of its lines.
std::vector<std::string> OptionsOf(const Subcommand& subcommand);

}  // namespace lamina::launcher
