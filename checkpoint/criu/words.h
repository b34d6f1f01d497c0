// SPDX-License-Identifier: BSD-3-Clause
// Understands what criu prints. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::checkpoint::criu {

// Returns "4.2.1" for what `criu --version` prints; nothing if it is not that.
std::optional<std::string> VersionIn(std::string_view printed);

// True for versions of which it is known that new kernels are too new for them.
bool IsOld(std::string_view version);

// Returns why that version cannot save processes on a kernel of that release; "" if nothing is
// known against it.
std::string TooOldFor(std::string_view version, std::string_view kernel);

// Returns the first error in what criu printed that has to do with a failure, without the place in
// criu's source. Where there is none it returns the last line, or "it printed nothing".
std::string FirstError(std::string_view printed);

// True if criu has stopped at an error in itself, after which it may wait for ever.
bool HasBug(std::string_view printed);

// Returns what the program has or does that an error of criu is about, as "it uses System V shared
// memory (shmget), which criu cannot save"; "" where that is not known.
std::string_view Meaning(std::string_view error);

// Returns the instructions of which a processor says that it has them, of the words `flags` of
// /proc/cpuinfo: those that a program may have chosen, not those of the kernel.
std::vector<std::string> InstructionsIn(std::string_view flags);

}  // namespace lamina::checkpoint::criu
