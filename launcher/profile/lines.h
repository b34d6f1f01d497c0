// SPDX-License-Identifier: BSD-3-Clause
// Which lines of source the addresses in programs and libraries are from. Another program reads
// that (eu-addr2line or addr2line), and gets little time.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::launcher {

// An address in a file; "": it is not known in which.
struct CodePlace {
  std::string file;
  std::uint64_t file_bytes = 0;  // how long that file was; 0: that is not known
  std::uint64_t offset = 0;
  friend auto operator<=>(const CodePlace&, const CodePlace&) = default;
};

// What is known of some of the places, as "/home/me/solver.c:214".
using Lines = std::map<CodePlace, std::string>;

// Waits for at most that long. A file that has changed since, or is not here, has no lines.
Lines FindLines(const std::set<CodePlace>& places, std::chrono::milliseconds limit);

// What eu-addr2line or addr2line has printed, a place a line: "" where it knows nothing.
std::vector<std::string> LinesIn(std::string_view printed);

// "solver.c:214" or, where the line is not known, "libfield.so+0x1f3a"; "": nothing is known.
std::string NameOf(const CodePlace& place, const Lines& lines);

}  // namespace lamina::launcher
