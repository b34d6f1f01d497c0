// SPDX-License-Identifier: BSD-3-Clause
// The Job of a spawner that has shepherds. It is what the launcher does with their streams.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/pmix/hub.h"
#include "launcher/shepherd/agent.h"
#include "launcher/shepherd/dial.h"
#include "launcher/shepherd/flow.h"
#include "launcher/shepherd/heartbeat.h"
#include "launcher/shepherd/node.h"
#include "launcher/shepherd/params.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/shepherded_job.h"
#include "launcher/shepherd/shepherds.h"
#include "launcher/shepherd/visitors.h"
#include "launcher/wire/messages.h"

namespace lamina::launcher {

class ShepherdedJob final : public Job {
 public:
  ShepherdedJob(const Plan& plan, ShepherdStarter starter, ShepherdParams params);
  ~ShepherdedJob() override;
  Status Start(std::span<const RankStart> starts);

  int ReadyFd() const override { return poller_->fd(); }
  std::optional<RankEvent> Next() override;
  void Signal(std::uint32_t rank, int signal) override;
  std::int64_t ProcessOf(std::uint32_t) const override { return 0; }
  std::int64_t ProcessThere(std::uint32_t rank) const override {
    return static_cast<std::int64_t>(remotes_.at(rank).process);
  }
  void Sweep() override;
  const RankTrace* TraceOf(std::uint32_t rank) const override { return &remotes_.at(rank).trace; }
  bool Settled() const override;
  std::vector<HostState> Hosts(Ping ping) override;

 private:
  // What the launcher holds of a rank.
  struct Remote {
    bool running = true;
    std::uint64_t process = 0;  // on its host; 0: not told yet
    RankTrace trace;
    std::unique_ptr<Source> input;
    std::array<bool, 2> ended = {};  // its output
    wire::RankOrder order;
  };

  // These are in start.cc.
  Status TakeRanks(std::span<const RankStart> starts);
  Status MakeRemote(const RankStart& start, Remote* remote);
  void MakeHub();
  void MakeNodes();
  void NoteNode(Node* node);
  std::vector<std::string> CommandTo(std::uint32_t host) const;
  std::vector<std::string> ShepherdCommand(std::uint32_t host) const;
  wire::StartRules Rules() const;
  Status CallCrew(const Manager& manager);
  void OnGuest();
  void OnGuestSpeaks(int fd);
  void Welcome(int fd, const wire::Hello& hello);
  Node* NodeOf(const wire::Hello& hello);
  void OnCrew();
  void Failed(Node* node, bool started, const std::string& why);
  void SettleFailures(bool now);
  // These are in question.cc.
  void AskManager();
  void OnAnswer();
  void Judge();
  void Suspect(bool words_follow);
  void Suspect(const wire::Ended& ended);
  bool IsSilenceExcused();
  std::string OrdersFor(const Node& node);
  // These are in job.cc.
  void OnTick();
  void CheckWaits(std::uint64_t now_ms);
  struct Asked {
    std::uint64_t sent_ns = 0;
    std::optional<std::uint64_t> round_trip_us;
  };
  void PingAll(bool usage);
  void HearPing(const wire::Ping& ping, Asked* asked);
  Status Hear(Node* node, const wire::Frame& frame);
  Node* NodeOfRank(std::uint32_t rank) { return by_host_[plan_.ranks[rank].host]; }
  void Deliver(std::uint32_t rank, std::uint8_t stream, std::string_view bytes);
  void Grant(std::uint32_t rank, std::uint8_t stream, std::uint32_t bytes);
  void HearVisit(const wire::Visit& visit);
  void SendVisit(const wire::Visit& visit);
  void HearSharing(const wire::Ready& ready);
  void HearEnd(const wire::Ended& ended);
  void HearGone(const wire::Gone& gone);
  void TakeBack(const wire::Gone& gone);
  void SayTakenBack(std::uint32_t host);
  // `number` is a signal with kKilled, otherwise an exit status.
  void Lose(std::span<const std::uint32_t> hosts, RankEvent::Kind kind, int number,
            const std::string& why);
  void Report(RankEvent event);

  Plan plan_;
  const ShepherdStarter starter_;
  ShepherdParams params_;
  std::unique_ptr<Poller> poller_;
  Heartbeat heartbeat_;
  std::vector<std::vector<std::string>> environments_;  // by app
  std::uint64_t open_files_max_ = 0;
  bool held_ = false;
  std::string job_name_;
  std::map<std::uint32_t, Remote> remotes_;                    // by rank
  std::map<std::uint32_t, std::vector<std::uint32_t>> ranks_;  // by host
  OutputPort* output_ = nullptr;
  SavingPort* saving_ = nullptr;  // null: the job is not saved from outside
  std::unique_ptr<Shepherds> shepherds_;
  std::unique_ptr<Visitors> visitors_;
  std::vector<Node*> by_host_;  // which of them leads there; null: no rank is there
  std::unique_ptr<pmix::Hub> hub_;
  std::deque<RankEvent> events_;
  std::map<std::uint32_t, std::string> taken_back_;  // hosts that others could not reach, and why
  bool said_taken_back_ = false;
  bool said_wait_ = false;
  // Hosts that could not be reached, while the others are still being tried.
  struct Failure {
    std::vector<std::uint32_t> hosts;
    std::string why;  // "": said with another
  };
  std::vector<Failure> failures_;
  std::uint64_t others_until_ms_ = 0;
  // The manager is being asked what it does with the job.
  std::unique_ptr<Agent> question_;
  std::uint64_t question_until_ms_ = 0;
  std::string answer_;
  bool words_follow_ = false;  // if the manager is behind it, its command will say so
  std::uint64_t silence_asked_ms_ = 0;
  bool alarmed_ = false;  // a rank or a node has failed
  bool holding_ = false;  // the news waits for the answer
  Sharing sharing_;       // kShared: some host has fewer CPUs than ranks, and the user was told
  // The clock of another host, by the quickest answer.
  struct Clock {
    bool known = false;
    std::int64_t ahead_ns = 0;
    std::uint64_t error_ns = 0;
  };
  std::map<std::uint32_t, Clock> clocks_;  // by host
  std::map<std::uint32_t, Asked> pings_;   // by host: the last one
  // The rest is for shepherds that call the launcher.
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
