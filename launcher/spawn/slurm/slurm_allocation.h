// SPDX-License-Identifier: BSD-3-Clause
// Reads what Slurm has given us from its variables. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::launcher::slurm {

// Expands a list like "4,1(x3)", where three more nodes have one.
Result<std::vector<std::uint32_t>> ExpandCounts(std::string_view text);

bool InAllocation(const Environment& environment);    // SLURM_JOB_ID and its list of nodes
std::string JobId(const Environment& environment);    // "77"
std::string JobName(const Environment& environment);  // "Slurm job 77"

// Components of a heterogeneous job follow one another. Slots are what was asked for
// (SLURM_TASKS_PER_NODE, SLURM_NTASKS_PER_NODE), CPUs what was given (SLURM_JOB_CPUS_PER_NODE).
// `host_file` is the contents of SLURM_HOSTFILE, one line a rank, or empty. kNotFound means that we
// are in no allocation; kInvalid names a variable that makes no sense.
Result<Allocation> ReadAllocation(const Environment& environment, std::string_view host_file);

}  // namespace lamina::launcher::slurm
