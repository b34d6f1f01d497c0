// SPDX-License-Identifier: BSD-3-Clause
// The commands behind mpiexec and lamina, from words to exit status.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"

namespace lamina::launcher {

struct CommandContext {
  const Environment& environment;
  const SpawnerRegistry& spawners;
  // The one of them that starts ranks on this machine only, so that its plans are checked against
  // what is here.
  std::string_view local_spawner;
  // Taken in its place when other hosts are named: the usual one, and the one for an agent of the
  // user's.
  std::string_view remote_spawner;
  std::string_view agent_spawner;
};

// mpiexec, mpirun, `lamina run`: returns the exit status for the shell.
int Mpiexec(std::span<const std::string> arguments, const CommandContext& context);

// A subcommand of lamina: returns the exit status. Its texts are in subcommands.cc.
struct Command {
  std::string_view name;
  int (*run)(std::span<const std::string> arguments, const CommandContext& context);
};

// lamina: its first word is the subcommand. `others`: the commands that this folder does not have
// itself.
int Lamina(std::span<const std::string> arguments, const CommandContext& context,
           std::span<const Command> others);

}  // namespace lamina::launcher
