// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/base/agent_word.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/following_bootstrap.h"
#include "runtime/bootstrap/pmi2_bootstrap.h"
#include "runtime/bootstrap/pmix_bootstrap.h"
#include "runtime/bootstrap/roster_bootstrap.h"

namespace lamina::bootstrap {

Result<std::unique_ptr<Bootstrap>> FindNow(const Environment& environment, std::uint32_t epoch) {
  if (environment.Get(kRosterVariable)) return ConnectRoster(environment);
  if (environment.Get("PMIX_NAMESPACE")) return ConnectPmix(environment, epoch);
  if (environment.Get("PMI_FD")) return ConnectPmi2(environment);
  if (environment.Get("PMI_PORT"))
    return Error(
        Code::kUnsupported,
        "this process was started with PMI over a port (PMI_PORT), which is not understood; "
        "start it without -pmi-port, or by Lamina's mpiexec");
  // Without either variable, a Slurm task would silently become one of N jobs of one rank each.
  // SLURM_PROCID is no sign of a task, because a batch script has it too.
  const auto tasks = ParseInteger(environment.Get("SLURM_STEP_NUM_TASKS").value_or("1"));
  const bool is_lost = environment.Get("SLURM_STEP_ID") && tasks.value_or(1) > 1;
  // Task 0 says it for all.
  if (is_lost && environment.Get("SLURM_PROCID").value_or("0") != "0")
    return Status(Code::kUnsupported, "");
  if (is_lost)
    return Error(Code::kUnsupported,
                 "srun started %d tasks without PMIx or PMI-2, so they cannot find each other; use "
                 "srun --mpi=pmix or --mpi=pmi2, or mpiexec inside the allocation",
                 static_cast<int>(*tasks));
  return std::unique_ptr<Bootstrap>();
}

// A job that is saved from outside may be brought back in other surroundings.
Result<std::unique_ptr<Bootstrap>> Find(const Environment& environment) {
  Result<std::unique_ptr<Bootstrap>> found = FindNow(environment, 0);
  if (!found.ok() || *found == nullptr || !environment.Get(kAgentVariable)) return found;
  return FollowEnvironment(environment, *std::move(found));
}

}  // namespace lamina::bootstrap
