// SPDX-License-Identifier: BSD-3-Clause
// Writes what mpiexec says of its job when it is asked, in the lines that
// launcher/control/README.md defines. Pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/spawn/spawner.h"
#include "launcher/supervise/lock_waits.h"
#include "launcher/usage/usage.h"

namespace lamina::launcher {

struct JobNews {
  std::string name;              // of the job: its PMIx namespace
  pid_t parent = 0;              // what has spawned this job, see Tie::parent; 0: nothing
  std::uint64_t age_ms = 0;      // since mpiexec started the ranks
  std::vector<bool> running;     // by rank
  std::vector<HostState> hosts;  // see Job::Hosts
  std::vector<LockWait> locks;
};

// Programs with their arguments on one line, with " : " between programs.
std::string CommandOf(const Plan& plan);

std::string DescribeJob(const Plan& plan, const JobNews& news);

// One line of the answer to "usage".
std::string DescribeUsage(std::string_view host, std::int64_t process, const RankUsage& usage);

// Returns "12 of 64 hosts have answered; waiting for node07, node08 and 50 others", or "" when all
// have.
std::string StartProgress(const Plan& plan, std::span<const HostState> hosts,
                          std::size_t names_max);

}  // namespace lamina::launcher
