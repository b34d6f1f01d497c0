// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rank_environment.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "launcher/plan/rank_variables.h"
#include "launcher/plan/sharing_words.h"
#include "launcher/spawn/process_space.h"
#include "runtime/base/agent_word.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/environment.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/roster.h"

namespace lamina::launcher {
namespace {

// If mpiexec itself runs under a launcher, the variables of that one are not for our ranks.
std::vector<std::string> EnvironmentOf(const Plan& plan, const App& app) {
  std::vector<std::string> assignments = plan.environment;
  assignments.insert(assignments.end(), app.environment.begin(), app.environment.end());
  Environment environment(assignments);
  environment.Unset("LAMINA_EVENT_FD");
  environment.Unset(kRosterVariable);
  environment.Unset(kNodeMemoryVariable);
  environment.Unset(kCheckpointVariable);
  environment.Unset(kAgentVariable);
  environment.Unset(kWindowFolderVariable);
  environment.Unset(kTieVariable);
  environment.Unset(kDoorVariable);
  environment.Unset(kFurtherVariable);
  if (environment.Get(kWaitVariable) == "auto") environment.Unset(kWaitVariable);
  assignments = environment.Assignments();
  std::erase_if(assignments, [](const std::string& assignment) {
    return (assignment.starts_with("PMIX_") && !assignment.starts_with("PMIX_MCA_")) ||
           IsRankVariable(std::string_view(assignment).substr(0, assignment.find('=')));
  });
  return assignments;
}

}  // namespace

RankEnvironments::RankEnvironments(const Plan& plan) : plan_(plan) {
  for (const App& app : plan.apps) by_app_.push_back(EnvironmentOf(plan, app));
}

std::vector<RankStart> RankEnvironments::Starts() const {
  std::vector<Environment> given(by_app_.begin(), by_app_.end());
  const auto shares = [&given](const RankPlan& rank) {
    const std::optional<std::string> wait = given[rank.app].Get(kWaitVariable);
    return wait ? MeansShared(*wait) : rank.sharing == Sharing::kShared;
  };
  const Sharing in_job = std::any_of(plan_.ranks.begin(), plan_.ranks.end(), shares)
                             ? Sharing::kShared
                             : Sharing::kExclusive;
  const RankVariables variables(plan_);
  std::vector<RankStart> starts;
  for (const RankPlan& rank : plan_.ranks) {
    const App& app = plan_.apps[rank.app];
    RankStart start;
    start.rank = rank.rank;
    start.host = plan_.hosts[rank.host].name;
    start.argv = app.argv;
    start.environment = by_app_[rank.app];
    start.wdir = app.wdir;
    start.path = app.path;
    start.cpuset = rank.cpuset;
    start.own_environment = variables.Of(rank);
    if (!given[rank.app].Get(kWaitVariable))
      start.own_environment.push_back(WaitAssignment(rank.sharing));
    if (!given[rank.app].Get(kCrowdVariable))
      start.own_environment.push_back(CrowdAssignment(in_job));
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace lamina::launcher
