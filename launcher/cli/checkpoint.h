// SPDX-License-Identifier: BSD-3-Clause
// Implements `lamina checkpoint`: it shows and verifies the saved states of jobs in a directory.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// Returns the exit status.
int Checkpoint(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
