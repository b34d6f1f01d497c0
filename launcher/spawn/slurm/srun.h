// SPDX-License-Identifier: BSD-3-Clause
// Makes the srun command that starts one shepherd on each node, and its environment. Pure.
//
// Every word has a reason, found on real systems:
//   --mpi=none           the shepherds serve PMIx themselves
//   --overlap            without it a step waits for the running one to end
//   --kill-on-bad-exit=0, --wait=0   we decide what an exit means, not srun
//   --input=none         srun would read our standard input
//   --cpu-bind=none      a shepherd must see all CPUs of its node; -c is never passed, for it binds
//   --distribution=block, --ntasks-per-node=1   whatever SLURM_* say about tasks
//   --export=ALL         also where sbatch was told --export=NONE
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/spawner.h"
#include "runtime/base/environment.h"

namespace lamina::launcher::slurm {

// `hosts` are indices into plan.hosts. `groups` counts the components of a heterogeneous job; 0 if
// it is not one.
CommandLine SrunCommand(const Plan& plan, std::span<const std::uint32_t> hosts,
                        std::uint32_t groups, std::span<const std::string> shepherd);

// With the direct command srun starts the ranks themselves and serves PMIx to them. A shell in
// front of each tells it its place in the job. Rank i goes to line i of the file that
// SLURM_HOSTFILE names (RankHosts). kUnsupported names what srun cannot do (several programs).
Result<CommandLine> DirectCommand(const Plan& plan);
std::string RankHosts(const Plan& plan);

// Returns the command that asks what becomes of the job with this number, and what its answer or
// srun's words mean.
CommandLine StateQuestion(const std::string& job);
ManagerState UnderstandState(std::string_view answer);

// Returns `environment` without what would change srun's mind, and with `more` ("NAME=value") on
// top.
std::vector<std::string> SrunEnvironment(const Environment& environment,
                                         std::span<const std::string> more);

}  // namespace lamina::launcher::slurm
