// SPDX-License-Identifier: BSD-3-Clause
// The launcher's part in saving a job from outside: it carries out what Rounds decides.
//
//   Take ── orders and reports, by two pipes for each rank ── Rounds
//        ── the engine saves each rank into its folder of the Archive
//        ── the ranks go on, the generation is stored, and whoever asked is answered
//
// A job that goes on from a saved state has its ranks revived here, and the first order they get is
// to go on.
//
// A request that comes while a checkpoint is under way waits for the next one.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/manifest.h"
#include "launcher/plan/plan.h"
#include "launcher/spawn/process_space.h"
#include "launcher/spawn/spawner.h"
#include "launcher/supervise/archive.h"
#include "launcher/supervise/rounds.h"
#include "launcher/supervise/timer.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Checkpoints {
 public:
  struct Moments {
    std::function<void(const std::string& message)> say;
    std::function<void()> stored;                      // what was being stored is, or has failed
    std::function<void(const std::string& why)> lost;  // a rank cannot go on, so the job cannot
    std::function<void(const std::string& sentence)> end;  // it is saved and is to end
    // Returns the process id of a rank that is a child of this process.
    std::function<std::int64_t(std::uint32_t rank)> process;
    // The ranks stand still: how far has what they wrote come?
    std::function<std::vector<checkpoint::Manifest::Stream>()> cut;
  };
  // Is told in a sentence what has become of a request, and whether the job was saved.
  using Reply = std::function<void(bool saved, const std::string& sentence)>;

  struct Engine {
    std::string name;
    std::unique_ptr<checkpoint::CheckpointEngine> engine;
  };
  struct Options {
    std::string job;  // its name
    std::uint32_t stop_ms = 0;
    // Descriptors of this process that ranks find by its number, once they are revived.
    std::vector<int> shared;
    int roster = -1;  // one of them, which tells the pid namespace of the ranks; -1: none
    const checkpoint::Opened* revived = nullptr;  // the state that the job goes on from
  };
  // `plan` must outlive it; its options name the directory.
  static Result<std::unique_ptr<Checkpoints>> Make(event_base* loop, const Plan& plan,
                                                   const Options& options, Engine engine,
                                                   Moments moments);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  // Adds what the rank needs, and changes what it has for life in a pid namespace.
  void Equip(RankStart* start) const;
  // Revives the ranks of a saved state, and notes which children of this process they are. It waits
  // until all are there.
  Status Revive(const checkpoint::Opened& saved, std::span<RankStart> starts);
  // The ranks have been started, so their ends of the pipes are theirs alone; those that were
  // revived are let go on.
  void RanksStarted();
  void RankEnded(std::uint32_t rank);
  bool IsStoring() const { return archive_->IsStoring(); }

  // What becomes of the job when it has been saved. One that could not be saved goes on.
  enum class Then : std::uint8_t { kGoOn, kEnd };
  void Take(Then then, Reply reply);

 private:
  struct Line;
  struct Working;
  Checkpoints(event_base* loop, const Plan& plan, const Options& options, Engine engine,
              Moments moments);
  Status Open(const Options& options);
  Status OpenSpace(const Options& options);
  void OnReports(Line* line);
  bool TakeWord(Line* line);
  void Do(const RoundStep& step);
  void Order(AgentWord::Kind kind);
  void Save();
  Status SaveRank(std::uint32_t rank);
  void OnErrand(std::uint32_t rank);
  void OnSaved();
  void OnRoundOver();
  void OnStored(Epoch epoch, const Status& outcome);
  void Answer(bool saved, const std::string& sentence);
  void BeginIfAsked();

  event_base* const loop_;
  const Plan& plan_;
  const std::string job_;
  const std::uint32_t stop_ms_;
  const Engine engine_;
  const Moments moments_;
  std::unique_ptr<ProcessSpace> space_;  // null: the engine does not need one
  Descriptor nothing_;                   // /dev/null, as the space has it
  std::unique_ptr<Archive> archive_;
  Rounds rounds_;
  Timer patience_;
  std::vector<std::unique_ptr<Line>> lines_;       // by rank
  std::vector<std::uint32_t> ordered_;             // ranks that were ordered to stop
  std::vector<std::unique_ptr<Working>> working_;  // errands under way
  Status saving_;                                  // the first of them that has failed
  std::vector<std::uint32_t> ended_;               // of a state that was revived
  std::uint32_t revived_round_ = 0;                // 0: nothing was revived
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
