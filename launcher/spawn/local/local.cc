// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/local/local.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/spawn/local/local_job.h"
#include "runtime/base/text.h"

namespace lamina::launcher::local {
namespace {

std::string ThisHostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

std::uint32_t CpusAllowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

class LocalSpawner final : public Spawner {
 public:
  SpawnerCaps caps() const override { return {}; }

  Result<Allocation> Query(const Environment&) override {
    const std::uint32_t cpus = CpusAllowed();
    Host host;
    host.name = ThisHostName();
    host.slots = cpus;
    return Allocation{{host}, Format("this host, %u CPUs allowed", cpus)};
  }

  Result<CommandLine> Render(const Plan&) const override { return CommandLine{}; }

  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    for (const RankPlan& rank : plan.ranks)
      if (rank.host != plan.ranks.front().host)
        return Error(Code::kUnsupported,
                     "rank %u is planned for host %s: the local spawner starts ranks on one host",
                     rank.rank, plan.hosts[rank.host].name.c_str());
    return LocalJob::Start(starts);
  }

  ManagerState AskState() override { return {}; }
};

component::Offer Query(const SpawnContext&) { return {0, "forks on this host, always possible"}; }

Result<std::unique_ptr<Spawner>> Make(const SpawnContext&) {
  return std::unique_ptr<Spawner>(std::make_unique<LocalSpawner>());
}

}  // namespace

SpawnerComponent Describe() { return {{"local", "0.1.0", "built in"}, Query, Make, nullptr}; }

}  // namespace lamina::launcher::local
