// SPDX-License-Identifier: BSD-3-Clause
// Implements a crew that is one command of a manager's.
#include <csignal>
#include <utility>

#include "launcher/shepherd/agent.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

class CommandCrew final : public ShepherdCrew {
 public:
  CommandCrew(std::string name, std::unique_ptr<Poller> poller, std::unique_ptr<Agent> agent)
      : name_(std::move(name)), poller_(std::move(poller)), agent_(std::move(agent)) {
    poller_->Add(agent_->words_fd(), Poller::kRead, [this] {
      if (!agent_->Listen()) poller_->Watch(agent_->words_fd(), 0);
    });
    if (agent_->end_fd() >= 0)
      poller_->Add(agent_->end_fd(), Poller::kRead,
                   [this] { poller_->Watch(agent_->end_fd(), 0); });
  }
  ~CommandCrew() override {
    if (agent_->Await(kPartingMs)) return;
    agent_->Kill(SIGTERM);
    agent_->Await(kPartingMs);
  }
  int ReadyFd() const override { return poller_->fd(); }
  std::optional<Event> Next() override {
    poller_->Turn();
    if (told_ || !agent_->Status().has_value()) return std::nullopt;
    told_ = true;
    agent_->Listen();
    const std::string words = agent_->Words();
    return Event{std::nullopt, Format("%s ended with status %d%s%s", name_.c_str(),
                                      *agent_->Status(), words.empty() ? "" : ": ", words.c_str())};
  }

  std::string Words() override {
    agent_->Listen();
    return agent_->heard();
  }

  bool MaySayMore() override { return !agent_->Status().has_value(); }

 private:
  std::string name_;
  std::unique_ptr<Poller> poller_;
  std::unique_ptr<Agent> agent_;
  bool told_ = false;
};

}  // namespace

Result<std::unique_ptr<ShepherdCrew>> RunCrewCommand(const CommandLine& command,
                                                     const std::vector<std::string>& environment) {
  auto poller = Poller::Open();
  if (!poller.ok()) return std::move(poller).status();
  auto agent = Agent::Start(command, &environment, false);
  if (!agent.ok()) return std::move(agent).status();
  return std::unique_ptr<ShepherdCrew>(
      std::make_unique<CommandCrew>(command.front(), *std::move(poller), *std::move(agent)));
}

}  // namespace lamina::launcher
