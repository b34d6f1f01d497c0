// SPDX-License-Identifier: BSD-3-Clause
// Is the program there and can it be run? This is asked before anything is started, so that a
// typing error is answered in one line and not by as many failures as there are ranks.
#pragma once

#include <string>
#include <string_view>

namespace lamina::launcher {

struct ProgramCheck {
  int exit_status = 0;  // 0: fine; 126: cannot be executed; 127: not there; 2: no such directory
  std::string message;
};

// `program` is as in App::argv[0], `path` the PATH that ranks will have, and `wdir` their directory
// ("": the current one).
ProgramCheck CheckProgram(const std::string& program, const std::string& wdir,
                          std::string_view path);

}  // namespace lamina::launcher
