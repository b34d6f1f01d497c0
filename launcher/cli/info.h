// SPDX-License-Identifier: BSD-3-Clause
// Implements `lamina info`: it shows frameworks and components with versions, priorities and
// reasons, and with --params the parameters with value, unit, range and origin.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// The arguments are [--params] [--param NAME=VALUE]... [FRAMEWORK or COMPONENT]. Returns the exit
// status.
int Info(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
