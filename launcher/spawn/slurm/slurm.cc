// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/slurm/slurm.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include "launcher/plan/hostlist.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/slurm/direct_job.h"
#include "launcher/spawn/slurm/slurm_allocation.h"
#include "launcher/spawn/slurm/srun.h"
#include "runtime/base/text.h"

namespace lamina::launcher::slurm {
namespace {

std::uint32_t Groups(const Environment& environment) {
  const auto size = environment.Get("SLURM_HET_SIZE");
  const auto number = ParseInteger(size ? *size : environment.Get("SLURM_PACK_SIZE").value_or(""));
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(number.value_or(0), 0, 1 << 10));
}

std::string HostFile(const Environment& environment) {
  const auto path = environment.Get("SLURM_HOSTFILE");
  if (!path) return {};
  std::ifstream file(*path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

struct Params {
  std::string start = "shepherds";
};
constexpr std::tuple kFields{
    param::Describe("spawner.slurm.start", &Params::start, "shepherds|direct",
                    "Who starts the ranks: shepherds of ours, one srun task a node; or srun itself "
                    "(direct) with --mpi=pmix, which leaves no process of ours on any node but can "
                    "start one program only."),
};

std::vector<std::uint32_t> HostsWithRanks(const Plan& plan) {
  std::vector<std::uint32_t> hosts;
  for (const RankPlan& rank : plan.ranks) hosts.push_back(rank.host);
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

// Is the whole allocation the node this process runs on? Only in batch scripts and tasks does Slurm
// say where that is; salloc's command may be anywhere.
bool IsAllHere(const Environment& environment) {
  const auto here = environment.Get("SLURMD_NODENAME");
  const auto list = environment.Get("SLURM_JOB_NODELIST");
  return here && list && *here == *list && Groups(environment) == 0;
}

Result<Allocation> AllocationOf(const Environment& environment) {
  Result<Allocation> allocation = ReadAllocation(environment, HostFile(environment));
  if (allocation.ok()) allocation->all_here = IsAllHere(environment);
  return allocation;
}

// A container has the variables of the allocation around it, and often not its commands.
Result<std::unique_ptr<ShepherdCrew>> RunSrun(const CommandLine& command,
                                              const std::vector<std::string>& environment) {
  Result<std::unique_ptr<ShepherdCrew>> crew = RunCrewCommand(command, environment);
  if (crew.ok() || crew.status().code() != Code::kNotFound) return crew;
  return Error(Code::kNotFound,
               "%s; SLURM_JOB_ID says that this is an allocation of Slurm: where its commands are "
               "not installed, as in a container, --spawner local runs all ranks on this host",
               std::string(crew.status().message()).c_str());
}

Manager Shepherds(const Environment& environment) {
  const std::uint32_t groups = Groups(environment);
  return {AllocationOf,
          [groups](const Plan& plan, std::span<const std::string> shepherd) {
            return SrunCommand(plan, HostsWithRanks(plan), groups, shepherd);
          },
          [environment, groups](const Plan& plan, std::span<const std::uint32_t> hosts,
                                std::span<const std::string> shepherd,
                                const Manager::Calling& calling) {
            return RunSrun(SrunCommand(plan, hosts, groups, shepherd),
                           SrunEnvironment(environment, calling));
          },
          StateQuestion(JobId(environment)), UnderstandState};
}

// With this spawner srun starts the ranks themselves.
class DirectSpawner final : public Spawner {
 public:
  SpawnerCaps caps() const override { return {.own_pmix = true}; }
  Result<Allocation> Query(const Environment& environment) override {
    return AllocationOf(environment);
  }
  Result<CommandLine> Render(const Plan& plan) const override { return DirectCommand(plan); }
  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    Result<CommandLine> command = DirectCommand(plan);
    if (!command.ok()) return std::move(command).status();
    const bool one = plan.options.stdin_to == StdinTo::kRank;
    const RankStart& reader = starts[one ? plan.options.stdin_rank : 0];
    const std::vector<std::string> own(reader.environment.begin(), reader.environment.end());
    return DirectJob::Start(*command, SrunEnvironment(Environment(own), {}), RankHosts(plan),
                            static_cast<std::uint32_t>(starts.size()), reader.stdio[0]);
  }
  ManagerState AskState() override { return {}; }  // srun says it itself
};

component::Offer Query(const SpawnContext& context) {
  if (!InAllocation(context.environment)) return {-1, "SLURM_JOB_ID is not set"};
  const std::string job = JobName(context.environment);
  if (IsAllHere(context.environment)) return {60, job + " has this node only"};
  return {60, job + ": one srun starts a shepherd on each of its nodes"};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  if (params.start == "direct") return std::unique_ptr<Spawner>(std::make_unique<DirectSpawner>());
  return MakeShepherdSpawner(Shepherds(context.environment), context);
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

SpawnerComponent Describe() { return {{"slurm", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::slurm
