// SPDX-License-Identifier: BSD-3-Clause
// `lamina info`: frameworks, components, versions, priorities and whys; with --params the
// parameters with value, unit, range and origin.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// Arguments: [--params] [--param NAME=VALUE]... [FRAMEWORK or COMPONENT]. Returns the exit status.
int Info(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
