// SPDX-License-Identifier: BSD-3-Clause
// Asks launchers of this user on this machine at their doors (launcher/control/README.md).
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE, and lets others in meanwhile.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::dynamic {

// Returns the process id of the mpiexec that looks after this process; 0: none does on this
// machine.
pid_t OwnLauncher(const Environment& environment);
// Returns those of all launchers of this user on this machine.
std::vector<pid_t> Launchers();
// Returns the first line of the answer. kPeerLost: nobody answers there. Bounded by a second.
Result<std::string> AskLauncher(pid_t launcher, const std::string& question);

}  // namespace lamina::dynamic
