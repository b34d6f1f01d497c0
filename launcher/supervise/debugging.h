// SPDX-License-Identifier: BSD-3-Clause
// Gives one rank to a debugger, and the debugger the terminal (`mpiexec --gdb`).
//
// A rank's process group is in the background of the terminal. That of the debugger comes to the
// foreground, so that its prompt reads the keys and ctrl-C stops the program.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class Debugging {
 public:
  Debugging() = default;
  ~Debugging();  // takes the terminal back
  Debugging(const Debugging&) = delete;
  Debugging& operator=(const Debugging&) = delete;

  // Puts the debugger before the program of the rank, which gets our standard streams. `here`:
  // ranks are children of this process.
  Status Equip(const Plan& plan, bool here, std::vector<RankStart>* starts);
  void RanksStarted(const Job& job);

 private:
  std::int32_t rank_ = -1;
  std::vector<std::string> words_;
  bool has_terminal_ = false;
};

}  // namespace lamina::launcher
