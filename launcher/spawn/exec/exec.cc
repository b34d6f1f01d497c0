// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/exec/exec.h"

#include <tuple>
#include <utility>

#include "launcher/shepherd/shepherded_job.h"
#include "launcher/spawn/exec/template.h"

namespace lamina::launcher::exec {
namespace {

struct Params {
  std::string agent;
  std::string onward = "no";
};
constexpr std::tuple kFields{
    param::Describe("spawner.exec.agent", &Params::agent, "",
                    "The command that runs another one on {host}, with its standard input and "
                    "output: \"kubectl exec -i {host} --\". {user}, {port}, {command} may be used; "
                    "without {command} its words come last."),
    param::Describe("spawner.exec.onward", &Params::onward, "yes|no",
                    "Does the agent work on the hosts, too? Then more of them than "
                    "launcher.shepherd.width are reached through each other."),
};

component::Offer Query(const SpawnContext& context) {
  const param::Found* agent = context.settings.Find("spawner.exec.agent");
  if (agent == nullptr || agent->value.empty()) return {-1, "no agent: --agent names one"};
  return {-1, "used when hosts other than this one are named: " + agent->value};
}

Result<std::unique_ptr<Spawner>> Make(const SpawnContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  Result<Template> agent = Template::Parse(params.agent);
  if (!agent.ok()) return std::move(agent).status();
  const auto command = [agent = *std::move(agent)](const Host& host,
                                                   std::span<const std::string> shepherd) {
    return agent.Fill(host, shepherd);
  };
  // Only the user knows what an agent says if the reason passes (launcher.shepherd.*).
  return MakeShepherdSpawner(Pipes{command, {}, {}, params.onward == "yes"}, context);
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

SpawnerComponent Describe() { return {{"exec", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::exec
