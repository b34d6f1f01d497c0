// SPDX-License-Identifier: BSD-3-Clause
// The Job behind StartShepherds: one Node a host, and everything that passes between them and the
// launcher.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/pmix/hub.h"
#include "launcher/shepherd/dial.h"
#include "launcher/shepherd/flow.h"
#include "launcher/shepherd/heartbeat.h"
#include "launcher/shepherd/node.h"
#include "launcher/shepherd/params.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/wire/messages.h"

namespace lamina::launcher {

class ShepherdedJob final : public Job {
 public:
  ShepherdedJob(const Plan& plan, std::unique_ptr<ShepherdStarter> starter, ShepherdParams params);
  ~ShepherdedJob() override;
  Status Start(std::span<const RankStart> starts);

  int ReadyFd() const override { return poller_->fd(); }
  std::optional<RankEvent> Next() override;
  void Signal(std::uint32_t rank, int signal) override;
  void Sweep() override;
  bool Settled() const override;

 private:
  // What the launcher holds of a rank.
  struct Remote {
    std::uint32_t node = 0;  // index into nodes_
    bool running = true;
    int ring = -1;  // ours, a copy
    std::unique_ptr<Source> input;
    std::array<std::unique_ptr<Sink>, 2> output;
    wire::RankOrder order;
    ~Remote();
  };

  // start.cc
  Status TakeRanks(std::span<const RankStart> starts);
  Status MakeRemote(const RankStart& start, Remote* remote);
  void MakeNodes();
  void StartWaiting();
  void StartNode(Node* node);
  CommandLine ShepherdCommand(const Node& node) const;
  Status CallCrew();
  void OnGuest();
  void OnGuestSpeaks(int fd);
  void Welcome(int fd, const wire::Hello& hello);
  Node* NodeOf(const wire::Hello& hello);
  void OnCrew();
  void GiveOrders(Node* node, const wire::Hello& hello);
  Status CheckVersion(const wire::Hello& hello) const;
  // job.cc
  void Attach(Node* node);
  void OnStream(Node* node);
  void OnWords(Node* node);
  void OnAgentEnd(Node* node);
  void OnTick();
  Status Hear(Node* node, const wire::Frame& frame);
  void Post(std::uint32_t host, const std::string& letter);
  void OutputGone(std::uint32_t rank, std::uint8_t which);
  void HearEnd(const wire::Ended& ended);
  void Carry(Node* node);
  void CarryAll();
  void Detach(Node* node);
  void Fail(Node* node, const std::string& why);
  bool Retry(Node* node);
  void Settle(Node* node);
  void Cancel(Node* node, int signal);
  void Report(RankEvent event);

  Plan plan_;
  std::unique_ptr<ShepherdStarter> starter_;
  ShepherdParams params_;
  std::unique_ptr<Poller> poller_;
  Heartbeat heartbeat_;
  std::vector<std::vector<std::string>> environments_;  // by app
  std::uint64_t open_files_max_ = 0;
  std::string job_name_;
  std::map<std::uint32_t, Remote> remotes_;  // by rank
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<pmix::Hub> hub_;
  std::deque<RankEvent> events_;
  bool failed_ = false;  // some node could not be started: no more are
  bool sweeping_ = false;
  std::uint64_t ticked_ms_ = 0;
  // Dial-back.
  Exchange exchange_;
  std::string secret_;
  std::unique_ptr<ShepherdCrew> crew_;
  std::vector<std::uint32_t> called_;  // hosts, in the order they were given to StartAll
  struct Guest {
    std::unique_ptr<wire::Stream> stream;
    std::uint64_t until_ms;
  };
  std::map<int, Guest> guests_;
};

}  // namespace lamina::launcher
