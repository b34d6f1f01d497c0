// SPDX-License-Identifier: BSD-3-Clause
// What `lamina trace` makes of a trace.
#pragma once

#include <span>
#include <string>

#include "launcher/cli/mpiexec.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// Returns how often which function was called, how long that took, and with how many bytes.
Result<std::string> TraceSummary(const std::string& path);

// Writes the JSON that chrome://tracing reads. `out` is there whole or not at all.
Status TraceToChrome(const std::string& path, const std::string& out);

// lamina trace. Returns 0; 1 for a trace that cannot be read or a file that cannot be written; 2
// for a mistake in the words.
int Trace(std::span<const std::string> arguments, const CommandContext& context);

}  // namespace lamina::launcher
