// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `lamina` that look at hosts and running jobs. Each returns the exit status for
// the shell; their usage texts are in cli/subcommands.cc.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// Returns 0 if a job can be started on every host; 1 if on some it cannot or something differs
// there.
int Check(std::span<const std::string> arguments, const CommandContext& context);

// Returns 1 if some launcher or, with --ping, some host did not answer; else 0, even if there is no
// job.
int Ps(std::span<const std::string> arguments, const CommandContext& context);

// Returns 1 if something is left that could not be removed or, with --dry-run, was only named; else
// 0.
int Clean(std::span<const std::string> arguments, const CommandContext& context);

// Returns 1 if the stack of some rank could not be had, 2 if there is no such job; else 0.
int ShowStacks(std::span<const std::string> arguments, const CommandContext& context);

// Says who waits for whom. Returns 1 if some host did not answer, 2 if there is no such job; else
// 0.
int Why(std::span<const std::string> arguments, const CommandContext& context);

// Has a job write its profile. Returns 1 if it could not, or some host did not answer, 2 if there
// is no such job; else 0.
int WriteProfile(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
