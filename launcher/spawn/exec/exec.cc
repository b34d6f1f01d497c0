// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/exec/exec.h"

#include <tuple>
#include <utility>

#include "launcher/shepherd/piped_spawner.h"
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
                    "The command that runs another one on {host}, standard input and output passed "
                    "on: \"ip netns exec {host}\", \"kubectl exec -i {host} --\". {user}, {port} "
                    "and {command} may be used too; without {command} its words are appended."),
    param::Describe("spawner.exec.onward", &Params::onward, "yes|no",
                    "Does the agent work on the hosts, too? Then more of them than "
                    "launcher.shepherd.width are reached through each other."),
};

class ExecStarter final : public ShepherdStarter {
 public:
  ExecStarter(Template agent, bool onward) : agent_(std::move(agent)), onward_(onward) {}
  bool dials_back() const override { return false; }
  CommandLine CommandFor(const Host& host, std::span<const std::string> shepherd) const override {
    return agent_.Fill(host, shepherd);
  }
  // Nothing is known of an agent's exit statuses.
  RetryRule retry() const override { return {}; }
  bool works_everywhere() const override { return onward_; }
  Result<std::unique_ptr<ShepherdCrew>> StartAll(const Plan&, std::span<const std::uint32_t>,
                                                 std::span<const std::string>,
                                                 const DialBack&) override {
    return Error(Code::kUnsupported, "an agent starts one host at a time");
  }

 private:
  Template agent_;
  bool onward_;
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
  return MakePipedSpawner(
      [agent = *std::move(agent), onward = params.onward == "yes"] {
        return std::make_unique<ExecStarter>(agent, onward);
      },
      context);
}

std::vector<param::Row> Parameters(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

SpawnerComponent Describe() { return {{"exec", "0.1.0", "built in"}, Query, Make, Parameters}; }

}  // namespace lamina::launcher::exec
