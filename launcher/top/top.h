// SPDX-License-Identifier: BSD-3-Clause
// lamina top: what the ranks of a running job do and use, again and again.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"

namespace lamina::launcher {

// Returns 0 when the job has ended or the user has seen enough, 1 when it does not answer, 2 if
// there is no such job.
int Top(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
