// SPDX-License-Identifier: BSD-3-Clause
// Starts one rank as a child of this process: clone, a few system calls, exec.
//
// The child shares our memory until it executes the program, so a failure is told by a plain store
// and nothing is copied. The child sets, in this order: its process group, its death with the
// launcher (parent-death signal), CPUs, working directory, standard descriptors and signal mask;
// then it executes the program.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "runtime/base/status.h"

namespace lamina::launcher::local {

// Turns "0-3,8" into {0,1,2,3,8} and "" into the empty set. Returns nothing for anything else.
std::optional<std::vector<unsigned>> ParseCpuList(std::string_view list);

// Returns the file that `program` means: itself if it has a slash, else the first executable of
// that name in `path`, or "".
std::string FindProgram(std::string_view program, std::string_view path, std::string_view wdir);

class ProcessStarter {
 public:
  // Returns the process id, or why there is none, as a person wants to read it:
  //   cannot run ./nosuch on node07: No such file or directory
  Result<pid_t> Start(const RankStart& start);

 private:
  const std::string& Find(const RankStart& start);

  std::map<std::string, std::string> found_;  // program, path and directory -> file
};

}  // namespace lamina::launcher::local
