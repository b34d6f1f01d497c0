// SPDX-License-Identifier: BSD-3-Clause
// A plan as people want to see it: what --display prints.
#pragma once

#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/plan/topology.h"
#include "runtime/base/environment.h"

namespace lamina::launcher {

// Programs, hosts, who runs where, and why.
std::string ShowPlan(const Plan& plan);

// What ranks get that differs from `own`, the launcher's environment: "+ NAME=value", "- NAME".
std::string ShowEnvironment(const Plan& plan, const Environment& own);

// One line for each group of ranks on `host`, with the machine drawn as packages in brackets, NUMA
// domains parted by bars, cores by blanks, one letter a hardware thread: '#' the rank may use it,
// '.' it may not, '-' nobody of this job may. On a wide machine a letter is one core, or 2, 4, 8
// ... of one NUMA domain, and '+' says that the rank may use some of it.
std::string ShowBindings(const Plan& plan, std::uint32_t host, hwloc_topology_t topology,
                         const CpuSet& allowed);

// What hosts other than `here` (an index; any number beyond the last: none of them) will do with
// their ranks; "" if there are none. CPUs are chosen there.
std::string ShowBindingsElsewhere(const Plan& plan, std::uint32_t here);

// {0,1,2,5} -> "0-2,5"; ascending numbers.
std::string Ranges(const std::vector<std::uint32_t>& numbers);

}  // namespace lamina::launcher
