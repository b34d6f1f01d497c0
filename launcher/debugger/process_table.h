// SPDX-License-Identifier: BSD-3-Clause
// What parallel debuggers look for in a launcher: the MPIR Process Acquisition Interface, version
// 1.1 (MPI Forum, 2010).
//
// A debugger that starts mpiexec sets MPIR_being_debugged and stops at MPIR_Breakpoint; one that
// attaches to a running mpiexec reads the table at once. The ranks of a job that is debugged from
// its start are held before their first instruction until MPIR_Breakpoint has returned.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lamina::launcher {

struct DebuggedProcess {
  std::string host;
  std::string program;
  std::int64_t process = 0;  // on its host
};

// True if a debugger has started this process.
bool IsBeingDebugged();

// Lets debuggers see the ranks, in the order of their numbers, and stops for the one that has
// started this process. It is called once, because a debugger may read the table at any time after.
void PublishProcesses(const std::vector<DebuggedProcess>& processes);

}  // namespace lamina::launcher
