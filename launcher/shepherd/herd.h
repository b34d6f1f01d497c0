// SPDX-License-Identifier: BSD-3-Clause
// A Herd looks after the ranks of a shepherd's own node: it starts them with the local spawner,
// serves PMIx to them, carries their input and output, tells their ends, and sweeps what they
// leave.
//
// Threads: one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launcher/plan/machine.h"
#include "launcher/pmix/server.h"
#include "launcher/saving/node_saving.h"
#include "launcher/saving/node_store.h"
#include "launcher/shepherd/door.h"
#include "launcher/shepherd/flow.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/shepherd.h"
#include "launcher/spawn/spawner.h"
#include "launcher/wire/frame.h"
#include "launcher/wire/messages.h"

struct event_base;

namespace lamina::launcher {

class Herd {
 public:
  struct Outlets {
    std::function<void(wire::Kind kind, const std::string& payload)> send;  // upwards
    std::function<void()> flush;  // what was sent leaves now
    std::function<void()> done;   // after a Sweep: nothing is left, all output is sent
    std::function<void(Status status)> failed;
  };
  // `orders` (bound to this node's CPUs already), `context` and what the pointers point to must
  // outlive it.
  Herd(const wire::Orders& orders, const ShepherdContext& context, Poller* poller, event_base* loop,
       Outlets outlets);
  // Kills what still runs.
  ~Herd();
  Herd(const Herd&) = delete;
  Herd& operator=(const Herd&) = delete;

  // Makes everything but the ranks, which wait for the frame Start: all hosts of the job are ready
  // then.
  Status Prepare();
  // Does what a frame from above says.
  Status Obey(const wire::Frame& frame);
  // Adds the heads of event rings that have changed to `beat`.
  void Tick(wire::Beat* beat);

 private:
  // Whether a wait must have lasted from one look to the next to be told.
  enum class Waits { kAll, kLasting };
  struct Sheep {
    int ring = -1;
    std::string ring_head;  // as last told
    std::string wait_note;  // as last seen
    std::unique_ptr<Sink> input;
    std::array<std::unique_ptr<Source>, 2> output;
    std::array<int, 3> fds = {-1, -1, -1};  // its own ends, until it has started
    bool cancelled = false;                 // before it has started
    void CloseFds();
    ~Sheep();
  };

  Status MakeRank(const wire::RankOrder& order);
  // Returns the job's parameters.
  param::Settings Settings() const;
  Status MakeServer(const param::Settings& settings);
  Sharing SharingHere() const;
  std::vector<RankStart> Starts(Sharing in_job) const;
  Status StartRanks(Sharing in_job);
  void StartServerIfNeeded();
  Status MakeStore();
  void TakeStoreWord(const wire::SavingWord& word);
  Status GetReady();
  Status MakeSaving(const param::Settings& settings);
  Result<checkpoint::Opened> Saved() const;
  Status CheckFits() const;
  Status BeginToRevive();
  void GiveUpReviving(int signal);
  std::string NotRestarted() const;
  void Refuse(Status why);
  Status TakeRanks(std::vector<RankStart> starts);
  void SaySaving(const wire::SavingWord& word);
  void OnJob();
  void TellEnd(const RankEvent& event);
  void SendProfiles();
  void SendUsage();
  void SendTrace(std::uint32_t rank, int ring);
  void AddHeads(Waits waits, wire::Beat* beat);
  void Deliver(const wire::Piece& piece);
  void Credit(const wire::Credit& credit);
  void Signal(const wire::SignalOrder& order);
  void Cancel(const RankEvent& event);
  void Sweep();
  void EndIfDone();

  const wire::Orders& orders_;
  const ShepherdContext& context_;
  Poller* const poller_;
  event_base* const loop_;
  const Outlets outlets_;
  std::map<std::uint32_t, Sheep> sheep_;  // by rank
  std::vector<std::string> directories_;  // by app
  std::unique_ptr<pmix::Server> server_;
  std::unique_ptr<Door> door_;          // null: there is none
  std::unique_ptr<NodeSaving> saving_;  // null: the job is not saved from outside
  std::unique_ptr<NodeStore> store_;    // null: likewise
  Machine machine_;
  std::vector<RankStart> reviving_;              // what is being revived
  std::vector<wire::SignalOrder> held_signals_;  // for these
  std::unique_ptr<Job> job_;                     // once the ranks are started
  std::vector<wire::Ended> ends_;                // to be told
  bool swept_ = false;
  bool done_ = false;
};

}  // namespace lamina::launcher
