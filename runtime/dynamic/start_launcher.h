// SPDX-License-Identifier: BSD-3-Clause
// Starts an mpiexec of its own for what this process spawns, where no launcher looks after it, and
// ties the two together.
//
// The mpiexec is no child of this process, so the program that calls MPI_Comm_spawn gets no SIGCHLD
// and finds no child that it does not know.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::dynamic {

// Returns the mpiexec that is to be used. `wanted` is the parameter dynamic.spawn.launcher.
// kUnsupported says why there is none, and what would help.
Result<std::string> FindLauncher(const std::string& wanted, const Environment& environment);

// Returns this end of the tie (runtime/base/dynamic_words.h). `words` are the launcher's arguments.
Result<Descriptor> StartLauncher(const std::string& program, const std::vector<std::string>& words,
                                 Environment environment);

}  // namespace lamina::dynamic
