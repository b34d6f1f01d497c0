// SPDX-License-Identifier: BSD-3-Clause
// The table of mpiexec's options, from which the parser, the help texts, the completion and the
// manual page are made.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/command_line.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// What the actions of the table write to.
struct Draft {
  Invocation line;
  ProgramRequest program;  // the one whose options are being read
  // Words that are to be read in the place of the option just taken; "": none. The file has whole
  // programs or only options of this one.
  std::string words_file;
  bool has_programs = false;
  std::string typed;        // the option that is being taken, as it was written
  std::string ranks_typed;  // likewise, the one that set program.ranks
};

enum class Topic { kLaunching, kHosts, kBinding, kOutput, kEnvironment, kParams, kGeneral };

struct Option {
  // The first is the one to show; the rest are accepted. A name with one dash is also accepted
  // with two and the other way round, if it is longer than one letter.
  std::array<const char*, 8> names;
  // "" if it takes none; "A B" if it takes two words; "[A]" if it may be left out; "[=A]" if it may
  // be left out and never is a word of its own.
  const char* argument;
  Topic topic;
  const char* help;  // one or two sentences
  // `value` is empty without an argument. The parser completes the message of a failure.
  Status (*apply)(Draft& draft, std::string_view value);
};

std::span<const Option> Options();

// Returns the row that goes by `name` (dashes included), or null.
const Option* FindOption(std::string_view name);

// Understands a number of seconds, for --timeout and MPIEXEC_TIMEOUT.
Result<std::uint64_t> ParseTimeoutMs(std::string_view text);

// Returns all names as they are written, for "did you mean".
std::vector<std::string> OptionNames();

}  // namespace lamina::launcher
