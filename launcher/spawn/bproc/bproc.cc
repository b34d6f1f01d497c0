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

Result<std::unique_ptr<ShepherdCrew>> Move(const Library& library, const Environment& environment,
                                           const Plan& plan, std::span<const std::uint32_t> hosts,
                                           std::span<const std::string> shepherd,
                                           const Manager::Calling& calling) {
  std::vector<MoveCrew::Target> targets;
  for (const std::uint32_t host : hosts) {
    Result<int> node = NodeNumber(plan.hosts[host].name);
    if (!node.ok()) return std::move(node).status();
    targets.push_back({host, *node});
  }
  Environment moved = environment;
  moved.Unset("HOSTNAME");  // of the front end
  for (const std::string& assignment : calling) {
    const std::size_t equals = assignment.find('=');
    moved.Set(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return MoveCrew::StartAll(library, targets, shepherd, moved.Assignments());
}

Manager FrontEnd(const Library& library, const Environment& environment) {
  return {[library](const Environment& asked) {
            return ReadAllocation(library, asked.Get("NODES").value_or(""));
          },
          [](const Plan& plan, std::span<const std::string> shepherd) {
            CommandLine command = {"bproc_vexecmove_io"};
            for (const Host& host : plan.hosts)
              if (host.schedulable) command.push_back(host.name);
            command.insert(command.end(), shepherd.begin(), shepherd.end());
            return command;
          },
          [library, environment](const Plan& plan, std::span<const std::uint32_t> hosts,
                                 std::span<const std::string> shepherd,
                                 const Manager::Calling& calling) {
            return Move(library, environment, plan, hosts, shepherd, calling);
          }};
}

// Looking for a library that is not there takes the loader a hundred system calls, so we first ask
// for the file system in which BProc keeps its nodes, unless somebody says where things are.
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
  return MakeShepherdSpawner(FrontEnd(*library, context.environment), context);
}

}  // namespace

SpawnerComponent Describe() { return {{"bproc", "0.1.0", "built in"}, Query, Make, nullptr}; }

}  // namespace lamina::launcher::bproc
