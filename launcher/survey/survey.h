// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `lamina` that look at hosts and running jobs. Each returns the exit status for
// the shell; their usage texts are in cli/subcommands.cc.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// 0: a job can be started on every host; 1: on some it cannot, or something differs there.
int Check(std::span<const std::string> arguments, const CommandContext& context);

// 0, also when there is no job; 1: some launcher or, with --ping, some host did not answer.
int Ps(std::span<const std::string> arguments, const CommandContext& context);

// 0: nothing is left; 1: something is that could not be removed (or, with --dry-run, something is).
int Clean(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
