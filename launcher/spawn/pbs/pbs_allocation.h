// SPDX-License-Identifier: BSD-3-Clause
// Reads what PBS has given us. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"

namespace lamina::launcher::pbs {

bool InJob(const Environment& environment);  // PBS_JOBID and PBS_NODEFILE

// `node_file` is the contents of PBS_NODEFILE, a line for every place; places are folded into
// hosts, in the order of their first mention. kInvalid means that no host is in it.
Result<Allocation> ReadAllocation(const Environment& environment, std::string_view node_file);

// Returns the command that asks what becomes of the job, and what its answer means.
CommandLine StateQuestion(const std::string& job);
ManagerState UnderstandState(std::string_view answer);

// Returns for each of `hosts` the number of its first line in the node file, which is its TM node;
// -1 if it has none.
std::vector<std::int64_t> LinesOf(const Plan& plan, std::span<const std::uint32_t> hosts,
                                  std::string_view node_file);

}  // namespace lamina::launcher::pbs
