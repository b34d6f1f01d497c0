// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/bproc/bproc.h"

#include <unistd.h>

#include <utility>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/bproc/library.h"
#include "launcher/spawn/bproc/move_crew.h"
#include "runtime/base/text.h"

namespace lamina::launcher::bproc {
namespace {

class MoveStarter final : public ShepherdStarter {
 public:
  MoveStarter(const Library& library, Environment environment)
      : library_(library), environment_(std::move(environment)) {}

  bool dials_back() const override { return true; }
  CommandLine CommandFor(const Host&, std::span<const std::string>) const override { return {}; }
  RetryRule retry() const override { return {}; }
  bool works_everywhere() const override { return false; }
  Result<std::unique_ptr<ShepherdCrew>> StartAll(const Plan& plan,
                                                 std::span<const std::uint32_t> hosts,
                                                 std::span<const std::string> shepherd,
                                                 const DialBack& dial_back) override {
    std::vector<MoveCrew::Target> targets;
    for (const std::uint32_t host : hosts) {
      Result<int> node = NodeNumber(plan.hosts[host].name);
      if (!node.ok()) return std::move(node).status();
      targets.push_back({host, *node});
    }
    Environment moved = environment_;
    moved.Unset("HOSTNAME");  // of the front end
    for (const std::string& assignment : dial_back.environment) {
      const std::size_t equals = assignment.find('=');
      moved.Set(assignment.substr(0, equals), assignment.substr(equals + 1));
    }
    return MoveCrew::StartAll(library_, targets, shepherd, moved.Assignments());
  }

 private:
  const Library library_;
  Environment environment_;
};

class BprocSpawner final : public Spawner {
 public:
  BprocSpawner(const Library& library, Environment environment, param::Settings settings)
      : library_(library), environment_(std::move(environment)), settings_(std::move(settings)) {}

  SpawnerCaps caps() const override { return kShepherdedCaps; }
  bool Present(const Environment&) const override { return true; }
  Result<Allocation> Query(const Environment& environment) override {
    return ReadAllocation(library_, environment.Get("NODES").value_or(""));
  }
  Result<CommandLine> Render(const Plan& plan) const override {
    CommandLine command = {"bproc_vexecmove_io"};
    for (const Host& host : plan.hosts)
      if (host.schedulable) command.push_back(host.name);
    command.insert(command.end(), {"mpiexec", "(shepherd)"});
    return command;
  }
  Result<std::unique_ptr<Job>> Start(const Plan& plan, std::span<const RankStart> starts) override {
    return StartShepherds(plan, starts, std::make_unique<MoveStarter>(library_, environment_),
                          {environment_, settings_});
  }

 private:
  const Library library_;
  Environment environment_;
  param::Settings settings_;
};

// Looking for a library that is not there takes the loader a hundred system calls, so first we ask
// for the file system in which BProc keeps its nodes; unless somebody says where things are.
component::Offer Query(const SpawnContext& context) {
  if (!context.environment.Get("BPFS_PATH") && !context.environment.Get("LD_LIBRARY_PATH") &&
      access("/bpfs", F_OK) != 0)
    return {-1, "no BProc here: there is no /bpfs"};
  const Result<Library> library = OpenLibrary();
  if (!library.ok()) return {-1, std::string(library.status().message())};
  return {60, Format("the front end of a BProc machine with %d nodes", library->node_count())};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Result<Library> library = OpenLibrary();
  if (!library.ok()) return std::move(library).status();
  return std::unique_ptr<Spawner>(
      std::make_unique<BprocSpawner>(*library, context.environment, context.settings));
}

}  // namespace

SpawnerComponent Describe() { return {{"bproc", "0.1.0", "built in"}, Query, Make, nullptr}; }

}  // namespace lamina::launcher::bproc
