// SPDX-License-Identifier: BSD-3-Clause
// Asks launchers, and shepherds of their jobs, at their doors on this machine
// (launcher/control/README.md).
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE, and lets others in meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::dynamic {

// Returns the door of whoever looks after this process; empty: nobody does.
std::string OwnDoor(const Environment& environment);
// True if this job is on this machine alone, and so is what it spawns unless hosts are added.
bool IsRunHere();
// True if `lamina grow` has added hosts to this job.
bool HasGrown();
// Returns the doors of all launchers of this user on this machine.
std::vector<std::string> LauncherDoors();
// Asks at a door, and leaves the answer to whoever reads the connection. kPeerLost: nobody is
// there.
Result<Descriptor> Knock(const std::string& door, const std::string& question);
// Waits also for the first line of the answer.
Result<Descriptor> Ask(const std::string& door, const std::string& question,
                       std::uint64_t timeout_ms, std::string* answer);

}  // namespace lamina::dynamic
