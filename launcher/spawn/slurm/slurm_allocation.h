// SPDX-License-Identifier: BSD-3-Clause
// What Slurm has given us, read from its variables. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::launcher::slurm {

// "4,1(x3)" -> 4, 1, 1, 1.
Result<std::vector<std::uint32_t>> ExpandCounts(std::string_view text);

bool InAllocation(const Environment& environment);    // SLURM_JOB_ID and its list of nodes
std::string JobName(const Environment& environment);  // "Slurm job 77"

// Components of a heterogeneous job follow one another. Slots are what was asked for
// (SLURM_TASKS_PER_NODE, SLURM_NTASKS_PER_NODE), CPUs what was given (SLURM_JOB_CPUS_PER_NODE).
// `host_file`: the contents of SLURM_HOSTFILE, one line a rank; empty: none.
// kNotFound: not in an allocation. kInvalid: a variable makes no sense; it is named.
Result<Allocation> ReadAllocation(const Environment& environment, std::string_view host_file);

}  // namespace lamina::launcher::slurm
