// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/piped_spawner.h"

#include <utility>

namespace lamina::launcher {
namespace {

class PipedSpawner final : public Spawner {
 public:
  PipedSpawner(MakeStarter make_starter, const SpawnContext& context)
      : make_starter_(std::move(make_starter)), context_(context) {}

  SpawnerCaps caps() const override { return kShepherdedCaps; }
  bool Present(const Environment&) const override { return false; }
  Result<Allocation> Query(const Environment&) override {
    return Allocation{{}, "hosts named by the user"};  // none: this one
  }
  Result<CommandLine> Render(const Plan& plan) const override {
    const std::string shepherd[] = {"mpiexec", "--lamina-shepherd"};
    return make_starter_()->CommandFor(plan.hosts[plan.ranks.front().host], shepherd);
  }
  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    return StartShepherds(plan, starts, make_starter_(), context_);
  }

 private:
  const MakeStarter make_starter_;
  const SpawnContext context_;
};

}  // namespace

std::unique_ptr<Spawner> MakePipedSpawner(MakeStarter make_starter, const SpawnContext& context) {
  return std::make_unique<PipedSpawner>(std::move(make_starter), context);
}

}  // namespace lamina::launcher
