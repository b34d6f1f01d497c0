// SPDX-License-Identifier: BSD-3-Clause
// Implements the Spawner of every way to start ranks through shepherds.
#include <utility>

#include "launcher/shepherd/agent.h"
#include "launcher/shepherd/job.h"
#include "launcher/shepherd/params.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/shepherd/tuning.h"

namespace lamina::launcher {
namespace {

class ShepherdSpawner final : public Spawner {
 public:
  ShepherdSpawner(ShepherdStarter starter, const SpawnContext& context)
      : starter_(std::move(starter)), context_(context) {}

  SpawnerCaps caps() const override {
    return {.takes_descriptors = false, .own_pmix = true, .keeps_rings = true};
  }

  Result<Allocation> Query(const Environment& environment) override {
    if (const auto* manager = std::get_if<Manager>(&starter_)) return manager->query(environment);
    return Allocation{{}, "hosts named by the user"};  // none: this one
  }

  Result<CommandLine> Render(const Plan& plan) const override {
    if (const auto* manager = std::get_if<Manager>(&starter_)) {
      const std::string shepherd[] = {"mpiexec", "(shepherd)"};
      return manager->render(plan, shepherd);
    }
    const std::string shepherd[] = {"mpiexec", "--lamina-shepherd"};
    return std::get<Pipes>(starter_).command(plan.hosts[plan.ranks.front().host], shepherd);
  }

  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    ShepherdParams params;
    if (Status status = param::Load(context_.settings, kShepherdFields, &params); !status.ok())
      return status;
    auto job = std::make_unique<ShepherdedJob>(plan, starter_, std::move(params));
    if (Status status = job->Start(starts); !status.ok()) return status;
    return std::unique_ptr<Job>(std::move(job));
  }

  ManagerState AskState() override {
    const auto* manager = std::get_if<Manager>(&starter_);
    if (manager == nullptr || manager->question.empty()) return {};
    Result<std::unique_ptr<Agent>> agent = Agent::Start(manager->question, nullptr, false);
    if (!agent.ok()) return {};  // without the command there is no answer
    (*agent)->Await(static_cast<int>(kQuestionMs));
    (*agent)->Listen();
    return manager->understand((*agent)->heard());
  }

 private:
  const ShepherdStarter starter_;
  const SpawnContext context_;
};

}  // namespace

std::unique_ptr<Spawner> MakeShepherdSpawner(ShepherdStarter starter, const SpawnContext& context) {
  return std::make_unique<ShepherdSpawner>(std::move(starter), context);
}

std::vector<param::Row> ShepherdParameters(const param::Settings& settings) {
  return param::Rows<ShepherdParams>(settings, kShepherdFields);
}

}  // namespace lamina::launcher
