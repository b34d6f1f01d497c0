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
                    "(direct), which serves PMIx to them as --mpi=pmix and leaves no process of "
                    "ours on any node, but cannot do what its PMIx cannot (spawn, several "
                    "programs)."),
};

class SrunStarter final : public ShepherdStarter {
 public:
  explicit SrunStarter(Environment environment) : environment_(std::move(environment)) {}

  bool dials_back() const override { return true; }
  CommandLine CommandFor(const Host&, std::span<const std::string>) const override { return {}; }
  RetryRule retry() const override { return {}; }
  bool works_everywhere() const override { return false; }
  Result<std::unique_ptr<ShepherdCrew>> StartAll(const Plan& plan,
                                                 std::span<const std::uint32_t> hosts,
                                                 std::span<const std::string> shepherd,
                                                 const DialBack& dial_back) override {
    return RunCrewCommand(SrunCommand(plan, hosts, Groups(environment_), shepherd),
                          SrunEnvironment(environment_, dial_back.environment));
  }

 private:
  Environment environment_;
};

class SlurmSpawner final : public Spawner {
 public:
  SlurmSpawner(Environment environment, param::Settings settings, bool direct)
      : environment_(std::move(environment)), settings_(std::move(settings)), direct_(direct) {}

  SpawnerCaps caps() const override {
    return direct_ ? SpawnerCaps{.own_pmix = true} : kShepherdedCaps;
  }
  bool Present(const Environment& environment) const override { return InAllocation(environment); }
  Result<Allocation> Query(const Environment& environment) override {
    return ReadAllocation(environment, HostFile(environment));
  }
  Result<CommandLine> Render(const Plan& plan) const override {
    if (direct_) return DirectCommand(plan);
    std::vector<std::uint32_t> hosts;
    for (const RankPlan& rank : plan.ranks) hosts.push_back(rank.host);
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    const std::vector<std::string> shepherd = {"mpiexec", "(shepherd)"};
    return SrunCommand(plan, hosts, Groups(environment_), shepherd);
  }
  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    if (direct_) return StartDirect(plan, starts);
    return StartShepherds(plan, starts, std::make_unique<SrunStarter>(environment_),
                          {environment_, settings_});
  }

 private:
  Result<std::unique_ptr<Job>> StartDirect(const Plan& plan, std::span<const RankStart> starts) {
    Result<CommandLine> command = DirectCommand(plan);
    if (!command.ok()) return std::move(command).status();
    const bool one = plan.options.stdin_to == StdinTo::kRank;
    const RankStart& reader = starts[one ? plan.options.stdin_rank : 0];
    const std::vector<std::string> own(reader.environment.begin(), reader.environment.end());
    return DirectJob::Start(*command, SrunEnvironment(Environment(own), {}), RankHosts(plan),
                            static_cast<std::uint32_t>(starts.size()), reader.stdio[0]);
  }

  Environment environment_;
  param::Settings settings_;
  const bool direct_;
};

// Is the whole allocation the node this process runs on? Only in batch scripts and tasks does Slurm
// say where that is; salloc's command may be anywhere.
bool IsAllHere(const Environment& environment) {
  const auto here = environment.Get("SLURMD_NODENAME");
  const auto list = environment.Get("SLURM_JOB_NODELIST");
  return here && list && *here == *list && Groups(environment) == 0;
}

component::Offer Query(const SpawnContext& context) {
  if (!InAllocation(context.environment)) return {-1, "SLURM_JOB_ID is not set"};
  const std::string job = JobName(context.environment);
  const auto copies = ParseInteger(context.environment.Get("SLURM_STEP_NUM_TASKS").value_or("1"));
  if (copies.value_or(1) == 1 && IsAllHere(context.environment))
    return {-1, job + " has this node only: no need for srun"};
  return {60, job + ": one srun starts a shepherd on each of its nodes"};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  return std::unique_ptr<Spawner>(std::make_unique<SlurmSpawner>(
      context.environment, context.settings, params.start == "direct"));
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

SpawnerComponent Describe() { return {{"slurm", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::slurm
