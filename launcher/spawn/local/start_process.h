// SPDX-License-Identifier: BSD-3-Clause
// Starts one rank as a child of this process: clone, a few system calls, exec.
//
// The child shares our memory until it executes the program, so a failure is told by a plain store
// and nothing is copied: about 0.2 ms a rank. In the child, in this order: own process group, death
// with the launcher (parent-death signal), CPUs, working directory, descriptors 0 to 2, signal
// mask, exec.
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

// "0-3,8" -> {0,1,2,3,8}; nothing when it is no such list. "" is the empty set.
std::optional<std::vector<unsigned>> ParseCpuList(std::string_view list);

// The file that `program` means: itself when it has a slash, else the first executable of that name
// in `path`. "" when there is none.
std::string FindProgram(std::string_view program, std::string_view path, std::string_view wdir);

class ProcessStarter {
 public:
  // The process id, or why not, as a person wants to read it:
  //   cannot run ./nosuch on node07: No such file or directory
  Result<pid_t> Start(const RankStart& start);

 private:
  const std::string& Find(const RankStart& start);

  std::map<std::string, std::string> found_;  // program, path and directory -> file
};

}  // namespace lamina::launcher::local
