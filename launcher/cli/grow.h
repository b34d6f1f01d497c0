// SPDX-License-Identifier: BSD-3-Clause
// Implements `lamina grow` and `lamina shrink`, which change the hosts of a running job.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// Both return the exit status.
int Grow(std::span<const std::string> arguments, const CommandContext& context);
int Shrink(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
