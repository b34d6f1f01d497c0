// SPDX-License-Identifier: BSD-3-Clause
// Shows a plan as people want to see it, for --display.
#pragma once

#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/plan/topology.h"
#include "runtime/base/environment.h"

namespace lamina::launcher {

// Returns programs, hosts, which rank runs where, and why.
std::string ShowPlan(const Plan& plan);

// Returns the hosts that the job may use, with their slots.
std::string ShowAllocation(const Plan& plan);

// Returns what ranks get that differs from `own`, the launcher's environment: "+ NAME=value", "-
// NAME".
std::string ShowEnvironment(const Plan& plan, const Environment& own);

// Returns one line for each group of ranks on `host`, with the machine drawn as packages in
// brackets, NUMA domains parted by bars, cores by blanks, one letter a hardware thread: '#' the
// rank may use it, '.' it may not, '-' nobody of this job may. On a wide machine a letter is one
// core, or 2, 4, 8 ... of one NUMA domain, and '+' says that the rank may use some of it.
std::string ShowBindings(const Plan& plan, std::uint32_t host, hwloc_topology_t topology,
                         const CpuSet& allowed);

// Returns what the other hosts will do with their ranks, because CPUs are chosen there; "" if there
// are none. `here` is the index of this machine, or any number beyond the last if it is not in the
// plan.
std::string ShowBindingsElsewhere(const Plan& plan, std::uint32_t here);

// Turns {0,1,2,5} into "0-2,5". The numbers must ascend.
std::string Ranges(const std::vector<std::uint32_t>& numbers);

}  // namespace lamina::launcher
