// SPDX-License-Identifier: BSD-3-Clause
// What is to be spawned, in words of mpiexec.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/core/info.h"

namespace lamina::dynamic {

// One program, as the root has described it.
struct Program {
  std::string command;
  std::vector<std::string> arguments;
  int processes = 0;
  const core::Info* info = nullptr;  // may be null
};

// What the programs' infos say, as arguments of mpiexec.
struct Order {
  std::vector<std::string> words;
  int processes = 0;
  bool is_mpi = true;
  bool elsewhere = false;  // other hosts may be meant
};
// kInvalid names the key and its value. `port` is where the children meet their parents.
Result<Order> OrderOf(const std::vector<Program>& programs, const std::string& port);

}  // namespace lamina::dynamic
