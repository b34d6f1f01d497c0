// SPDX-License-Identifier: BSD-3-Clause
// The launcher's part in saving a job from outside: it carries out what Rounds decides.
//
//   Take ── orders and reports of the ranks' agents, by way of their nodes ── Rounds
//        ── each node saves its ranks into their folders of the Archive
//        ── the ranks go on, the generation is stored, and whoever asked is answered
//
// The node of a job on one host is here; others are spoken to through the Job.
//
// A job that goes on from a saved state has its ranks revived by their nodes, and the first order
// they get is to go on.
//
// A request that comes while a checkpoint is under way waits for the next one, and one that comes
// while ranks are being revived waits until they have gone on.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/store/claim.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "launcher/saving/node_saving.h"
#include "launcher/spawn/spawner.h"
#include "launcher/supervise/archive.h"
#include "launcher/supervise/host_stores.h"
#include "launcher/supervise/rounds.h"
#include "launcher/supervise/timer.h"
#include "launcher/wire/messages.h"
#include "runtime/base/status.h"

struct event_base;

namespace lamina::launcher {

// What each rank had not read yet of standard input when it was saved.
std::vector<std::string> KeptInput(const checkpoint::Opened& saved);

class Checkpoints final : public SavingPort {
 public:
  struct Moments {
    std::function<void(const std::string& message)> say;
    std::function<void()> stored;                      // what was being stored is, or has failed
    std::function<void(const std::string& why)> lost;  // a rank cannot go on, so the job cannot
    std::function<void(const std::string& sentence)> end;  // it is saved and is to end
    // Returns the process id of a rank that is a child of this process.
    std::function<std::int64_t(std::uint32_t rank)> process;
    // Returns how much was written into the pipe that is its standard input.
    std::function<std::uint64_t(std::uint32_t rank)> given;
    // The ranks stand still, and have read so much of standard input, by rank: how far have their
    // streams come?
    std::function<std::vector<checkpoint::Manifest::Stream>(std::span<const std::uint64_t> read)>
        cut;
    // And what has such a rank not read yet of a standard input that is no file?
    std::function<std::string(std::uint32_t rank, std::uint64_t read)> unread;
  };
  // Is told in a sentence what has become of a request, and whether the job was saved.
  using Reply = std::function<void(bool saved, const std::string& sentence)>;

  struct Options {
    std::string job;  // its name
    std::uint32_t stop_ms = 0;
    bool here = true;  // the ranks are children of this process
    // Descriptors of this process that ranks find by its number, once they are revived.
    std::vector<int> shared;
    int roster = -1;  // one of them, which tells the pid namespace of the ranks; -1: none
    const checkpoint::Opened* revived = nullptr;  // the state that the job goes on from
    checkpoint::Claim* claim = nullptr;           // see Archive
    Archive::Local local;
  };
  // `plan` must outlive it; its options name the directory.
  static Result<std::unique_ptr<Checkpoints>> Make(event_base* loop, const Plan& plan,
                                                   const Options& options, NamedEngine engine,
                                                   Moments moments);
  ~Checkpoints() override = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Adds what the rank needs.
  void Equip(RankStart* start);
  // Begins to revive the ranks of a saved state that are children of this process; see NodeSaving.
  // If there are none, `revived` is called at once.
  Status BeginToRevive(const checkpoint::Opened& saved, std::span<RankStart> starts,
                       std::function<void(Status)> revived);
  void GiveUpReviving();
  void RanksStarted();
  void RankEnded(std::uint32_t rank);
  // The ranks do not go on as they would by themselves.
  bool IsSaving() const { return rounds_.phase() != Rounds::Phase::kIdle; }
  bool IsStoring() const { return IsStoringApart() || archive_->IsStoring(); }
  // Hosts are writing what is to be kept, so they must not be let go.
  bool IsStoringApart() const { return storing_apart_; }
  // The host of a rank is lost.
  void HostLost(std::uint32_t rank);

  const wire::SavingOrders& orders() const override { return orders_; }
  void Tell(Send send) override { send_ = std::move(send); }
  void Take(const wire::SavingWord& word) override;

  // What becomes of the job when it has been saved. One that could not be saved goes on.
  enum class Then : std::uint8_t { kGoOn, kEnd };
  void Take(Then then, Reply reply);

 private:
  Checkpoints(event_base* loop, const Plan& plan, const Options& options, const NamedEngine& engine,
              Moments moments);
  Status Open(const Options& options, std::unique_ptr<checkpoint::CheckpointEngine> engine);
  void TakeStoreWord(const wire::SavingWord& word);
  Status CheckStores() const;
  void FindImages();
  void SendSaves();
  void Store();
  void StoreApart(Status measured);
  void KeepApart(Status copied);
  void ForwardApart(Epoch epoch);
  void GiveUpStoring(Status why);
  void Drop();
  void TakeSaved(const checkpoint::Manifest& manifest);
  Status CheckTies(const checkpoint::Manifest& manifest) const;
  bool TakeAgentWord(std::uint32_t rank);
  void Do(const RoundStep& step);
  void Order(AgentWord::Kind kind);
  void SendTo(std::uint32_t rank, wire::SavingWord::Kind kind, const std::string& bytes);
  void Save();
  void OnRankSaved(const wire::SavingWord& word);
  void OnRankRevived();
  void OnSaved();
  Status CheckWhole();
  Status KeepInput();
  void OnRoundOver();
  void OnStored(Epoch epoch, const Status& outcome);
  void TellStored(Epoch epoch, const Status& outcome);
  void Answer(bool saved, const std::string& sentence);
  void BeginIfAsked();

  event_base* const loop_;
  const Plan& plan_;
  const std::string job_;
  const std::uint32_t stop_ms_;
  const std::string engine_;  // its name
  const std::string engine_version_;
  const Moments moments_;
  std::unique_ptr<Archive> archive_;
  HostStores stores_;
  wire::SavingOrders orders_;
  Rounds rounds_;
  Timer patience_;
  std::unique_ptr<NodeSaving> here_;  // null: the ranks are on other nodes
  // Then this reads what the engines of those nodes have written.
  std::unique_ptr<checkpoint::CheckpointEngine> reader_;
  SavingPort::Send send_;  // to the node of a rank
  bool storing_apart_ = false;
  bool forwarding_ = false;            // what lies apart to the directory of --checkpoint-dir
  checkpoint::Manifest stored_apart_;  // what was stored last
  // The state that the job goes on from, while hosts look for its images.
  std::optional<checkpoint::Manifest> looked_for_;
  std::string looked_for_plan_;
  std::vector<std::string> heard_;      // by rank: bytes of an agent's words that are not whole yet
  std::vector<std::uint32_t> ordered_;  // ranks that were ordered to stop
  std::size_t saves_ = 0;               // ranks that are being saved
  std::vector<std::uint64_t> read_;     // bytes of standard input, by rank
  Status saving_;                       // the first of them that has failed
  std::vector<std::uint32_t> ended_;    // of a state that was revived
  std::size_t awaited_ = 0;             // ranks of it that are not there yet
  std::uint32_t revived_round_ = 0;     // 0: nothing was revived
  checkpoint::Manifest manifest_;
  // These are those who wait for the next checkpoint, and for the one that is under way.
  struct Asked {
    bool any = false;
    bool ends = false;
    std::vector<Reply> replies;
  };
  Asked asked_;
  Asked waiting_;
  std::uint64_t began_ms_ = 0;
  std::uint64_t stopped_ms_ = 0;
  std::uint64_t rested_ms_ = 0;
  std::uint64_t going_ms_ = 0;
};

}  // namespace lamina::launcher
