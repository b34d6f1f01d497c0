// SPDX-License-Identifier: BSD-3-Clause
// A file that keeps names of services for all jobs of a user, on whatever machine they run, if all
// of them see it. A name ends with the process that has put it there: lines of processes of this
// machine that are gone count as absent, and the next writer leaves them out.
//
// Format: the line "lamina names 1", then one line for each name, with tabs between its fields:
//
//   NAME PORT PLACE PROCESS START
//
// NAME and PORT are words without blanks, PLACE is that of the process (place.h) in 16 hexadecimal
// digits, and START is the time at which the kernel has started it, in the kernel's ticks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina {

struct NameLine {
  std::string name;
  std::string port;
  std::uint64_t place = 0;
  pid_t process = 0;
  std::uint64_t start = 0;
  friend bool operator==(const NameLine&, const NameLine&) = default;
};
// kInvalid: the text is that of another file. Lines that make no sense are passed over.
Result<std::vector<NameLine>> ReadNameLines(std::string_view text);
std::string WriteNameLines(const std::vector<NameLine>& lines);

class NameFile {
 public:
  explicit NameFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Enters a name for as long as this process lives. kExists: somebody else has published it.
  Status Publish(std::string_view name, std::string_view port) const;
  // Takes it back if it is this process's. A file without names is removed.
  Status Unpublish(std::string_view name) const;
  // Returns the port of that name; empty: there is no such name, or no such file.
  std::string Find(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace lamina
