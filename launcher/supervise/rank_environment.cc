// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/rank_environment.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "runtime/base/environment.h"
#include "runtime/base/roster.h"

namespace lamina::launcher {
namespace {

constexpr std::string_view kWaitVariable = "LAMINA_P2P_WAIT_MODE";
constexpr std::string_view kCrowdVariable = "LAMINA_COLLECTIVE_SELECT_CROWD";

const char* NameOf(WaitMode mode) {
  return mode == WaitMode::kOversubscribed ? "oversubscribed" : "exclusive";
}

// If mpiexec itself runs under a launcher, the variables of that one are not for our ranks.
std::vector<std::string> EnvironmentOf(const Plan& plan, const App& app) {
  std::vector<std::string> assignments = plan.environment;
  assignments.insert(assignments.end(), app.environment.begin(), app.environment.end());
  Environment environment(assignments);
  environment.Unset("LAMINA_EVENT_FD");
  environment.Unset(kRosterVariable);
  if (environment.Get(kWaitVariable) == "auto") environment.Unset(kWaitVariable);
  assignments = environment.Assignments();
  std::erase_if(assignments, [](const std::string& assignment) {
    return assignment.starts_with("PMIX_") && !assignment.starts_with("PMIX_MCA_");
  });
  return assignments;
}

// What the environment of an app says already, so that the plan does not decide it.
struct Given {
  std::optional<std::string> wait;
  std::optional<std::string> crowd;
};

}  // namespace

RankEnvironments::RankEnvironments(const Plan& plan) : plan_(plan) {
  for (const App& app : plan.apps) by_app_.push_back(EnvironmentOf(plan, app));
}

std::vector<RankStart> RankEnvironments::Starts() const {
  std::vector<Given> given;
  for (const std::vector<std::string>& assignments : by_app_) {
    const Environment environment(assignments);
    given.push_back({environment.Get(kWaitVariable), environment.Get(kCrowdVariable)});
  }
  // Ranks choose collective algorithms by this, so all of them are told the same.
  const bool crowded =
      std::any_of(plan_.ranks.begin(), plan_.ranks.end(), [&](const RankPlan& rank) {
        return given[rank.app].wait.value_or(NameOf(rank.wait_mode)) == "oversubscribed";
      });
  std::vector<RankStart> starts;
  for (const RankPlan& rank : plan_.ranks) {
    const App& app = plan_.apps[rank.app];
    RankStart start;
    start.rank = rank.rank;
    start.host = plan_.hosts[rank.host].name;
    start.argv = app.argv;
    start.environment = by_app_[rank.app];
    start.wdir = app.wdir;
    start.cpuset = rank.cpuset;
    const auto say = [&start](std::string_view variable, const char* value) {
      start.own_environment.push_back(std::string(variable) + "=" + value);
    };
    if (!given[rank.app].wait) say(kWaitVariable, NameOf(rank.wait_mode));
    if (!given[rank.app].crowd) say(kCrowdVariable, crowded ? "4" : "1");
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace lamina::launcher
