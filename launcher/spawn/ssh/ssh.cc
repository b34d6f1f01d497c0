// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/ssh/ssh.h"

#include <utility>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/ssh/ssh_starter.h"

namespace lamina::launcher::ssh {
namespace {

class SshSpawner final : public Spawner {
 public:
  SshSpawner(Params params, const SpawnContext& context)
      : params_(std::move(params)), context_(context) {}

  SpawnerCaps caps() const override {
    SpawnerCaps caps;
    caps.takes_descriptors = false;
    caps.own_pmix = true;
    return caps;
  }
  bool Present(const Environment&) const override { return false; }
  Result<Allocation> Query(const Environment&) override {
    return Allocation{{}, "hosts named by the user"};  // none: this one
  }
  Result<CommandLine> Render(const Plan& plan) const override {
    const std::string shepherd[] = {"mpiexec", "--lamina-shepherd"};
    return SshStarter(params_).CommandFor(plan.hosts[plan.ranks.front().host], shepherd);
  }
  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    return StartShepherds(plan, starts, std::make_unique<SshStarter>(params_), context_);
  }

 private:
  Params params_;
  SpawnContext context_;
};

component::Offer Query(const SpawnContext&) {
  return {-1, "for hosts other than this one; used when -H or a host file names some"};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  return std::unique_ptr<Spawner>(std::make_unique<SshSpawner>(std::move(params), context));
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  std::vector<param::Row> rows = param::Rows<Params>(settings, kFields);
  for (param::Row& row : ShepherdParameters(settings)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

SpawnerComponent Describe() { return {{"ssh", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::ssh
