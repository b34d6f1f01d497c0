// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/pbs/pbs.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/pbs/pbs_allocation.h"
#include "launcher/spawn/pbs/tm_crew.h"
#include "runtime/base/text.h"

namespace lamina::launcher::pbs {
namespace {

std::string NodeFile(const Environment& environment) {
  std::ifstream file(environment.Get("PBS_NODEFILE").value_or(""), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The MoM may put PMIX_* of a server of its own into a task's environment, one that exchanges
// nothing; a shepherd must not find it.
constexpr const char* kVariablesOfTheMom[] = {
    "PMIX_NAMESPACE",    "PMIX_RANK",          "PMIX_SERVER_URI",   "PMIX_SERVER_URI2",
    "PMIX_SERVER_URI21", "PMIX_SERVER_URI3",   "PMIX_SERVER_URI4",  "PMIX_SERVER_URI41",
    "PMIX_GDS_MODULE",   "PMIX_SERVER_TMPDIR", "PMIX_SECURITY_MODE"};

CommandLine TaskCommand(std::span<const std::string> shepherd) {
  CommandLine command = {"/usr/bin/env"};
  for (const char* name : kVariablesOfTheMom) {
    command.emplace_back("-u");
    command.emplace_back(name);
  }
  command.insert(command.end(), shepherd.begin(), shepherd.end());
  return command;
}

Result<std::unique_ptr<ShepherdCrew>> StartTasks(const Environment& environment, const Plan& plan,
                                                 std::span<const std::uint32_t> hosts,
                                                 std::span<const std::string> shepherd,
                                                 const Manager::Calling& calling) {
  const std::vector<std::int64_t> lines = LinesOf(plan, hosts, NodeFile(environment));
  std::vector<TmCrew::Start> starts;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    TmCrew::Start start{hosts[i], lines[i], TaskCommand(shepherd), calling};
    start.environment.push_back(Format("LAMINA_SHEPHERD_HOST=%u", hosts[i]));
    // A task gets the MoM's search paths, not ours, and the program's libraries may be there.
    for (const char* name : {"PATH", "LD_LIBRARY_PATH"})
      if (const auto value = environment.Get(name))
        start.environment.push_back(std::string(name) + "=" + *value);
    starts.push_back(std::move(start));
  }
  return TmCrew::StartAll(environment, starts);
}

Manager TaskManager(const Environment& environment) {
  return {[](const Environment& asked) { return ReadAllocation(asked, NodeFile(asked)); },
          [](const Plan&, std::span<const std::string> shepherd) {
            CommandLine command = {"tm_spawn"};
            for (std::string& word : TaskCommand(shepherd)) command.push_back(std::move(word));
            return command;
          },
          [environment](const Plan& plan, std::span<const std::uint32_t> hosts,
                        std::span<const std::string> shepherd, const Manager::Calling& calling) {
            return StartTasks(environment, plan, hosts, shepherd, calling);
          },
          StateQuestion(environment.Get("PBS_JOBID").value_or("")), UnderstandState};
}

component::Offer Query(const SpawnContext& context) {
  if (!InJob(context.environment)) return {-1, "PBS_JOBID and PBS_NODEFILE are not set"};
  const std::string job = "PBS job " + *context.environment.Get("PBS_JOBID");
  const Result<Allocation> allocation =
      ReadAllocation(context.environment, NodeFile(context.environment));
  if (allocation.ok() && allocation->all_here) return {60, job + " has this host only"};
  // It is offered all the same, so that mpiexec says what is wrong instead of running everything
  // here.
  if (!allocation.ok()) return {60, std::string(allocation.status().message())};
  if (const Result<TmSession> session = TmSession::Open(context.environment); !session.ok())
    return {60, job + ": " + std::string(session.status().message())};
  return {60, job + ": pbs_mom starts a shepherd on each of its hosts"};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  return MakeShepherdSpawner(TaskManager(context.environment), context);
}

}  // namespace

SpawnerComponent Describe() { return {{"pbs", "0.1.0", "built in"}, Query, Make, nullptr}; }

}  // namespace lamina::launcher::pbs
