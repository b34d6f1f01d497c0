// SPDX-License-Identifier: BSD-3-Clause
// The commands behind mpiexec and lamina, from words to exit status.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/store/claim.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"

namespace lamina::launcher {

struct CommandContext {
  const Environment& environment;
  const SpawnerRegistry& spawners;
  // This one of them starts ranks on this machine only, so its plans are checked against what is
  // here.
  std::string_view local_spawner;
  // These take its place when other hosts are named: the usual one, and the one for an agent of the
  // user's.
  std::string_view remote_spawner;
  std::string_view agent_spawner;
  const checkpoint::EngineRegistry* engines = nullptr;  // what processes are saved by
};

// Runs mpiexec, mpirun and `lamina run`. Returns the exit status for the shell.
int Mpiexec(std::span<const std::string> arguments, const CommandContext& context);

// Runs mpiexec with the words of a saved job, which goes on from its saved state. `claim` keeps its
// directory.
struct SavedJob;
int MpiexecFrom(const SavedJob& job, checkpoint::Claim* claim, const CommandContext& context);

// A subcommand of lamina. `run` returns the exit status; the texts are in subcommands.cc.
struct Command {
  std::string_view name;
  int (*run)(std::span<const std::string> arguments, const CommandContext& context);
};

// Runs lamina, whose first word is the subcommand. `others` are the commands that this folder does
// not have itself.
int Lamina(std::span<const std::string> arguments, const CommandContext& context,
           std::span<const Command> others);

}  // namespace lamina::launcher
