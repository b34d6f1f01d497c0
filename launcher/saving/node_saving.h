// SPDX-License-Identifier: BSD-3-Clause
// A node's part in saving a job from outside: it carries the launcher's orders to the agents of its
// ranks and their reports back, and has an engine save and revive these ranks.
//
//   launcher ── wire::SavingWord ──> NodeSaving ── a pipe for each rank ──> agent
//            <── wire::SavingWord ──            <── a pipe for each rank ──
//                                               ── Errand ──> engine
//
// On one host the launcher has one itself; of a job on several hosts each shepherd has one.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/store/listing.h"
#include "launcher/spawn/process_space.h"
#include "launcher/spawn/spawner.h"
#include "launcher/wire/messages.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

// Returns the engine that is called so, or with "auto" the best that there is. kNotFound: no engine
// is called so.
struct NamedEngine {
  std::string name;
  std::unique_ptr<checkpoint::CheckpointEngine> engine;
};
Result<NamedEngine> ChooseEngine(const checkpoint::EngineRegistry& engines,
                                 const checkpoint::EngineContext& context, const std::string& name);

// The process id after which those of a job's ranks come. They are higher than those of what an
// engine runs to revive them.
inline constexpr std::uint32_t kFirstProcess = 9999;

class NodeSaving {
 public:
  struct Outlets {
    std::function<void(const wire::SavingWord& word)> say;  // to the launcher
    // Returns the process id of a rank that is a child of this process.
    std::function<std::int64_t(std::uint32_t rank)> process;
    // Returns how many bytes were written into the pipe that is its standard input.
    std::function<std::uint64_t(std::uint32_t rank)> given;
  };
  struct Options {
    std::vector<std::uint32_t> ranks;            // of this node
    std::uint32_t host = 0;                      // the node's number in the job
    std::uint32_t last_process = kFirstProcess;  // the highest process id of the job so far
    bool revives = false;                        // the ranks come from a saved state
    bool secluded = false;                       // this process is user 0 of a namespace alone
    // Descriptors of this process that ranks find by its number, once they are revived.
    std::vector<int> shared;
    int roster = -1;  // one of them, which tells the pid namespace of the ranks; -1: none
  };
  static Result<std::unique_ptr<NodeSaving>> Make(
      event_base* loop, const Options& options,
      std::unique_ptr<checkpoint::CheckpointEngine> engine, Outlets outlets);
  ~NodeSaving();
  NodeSaving(const NodeSaving&) = delete;
  NodeSaving& operator=(const NodeSaving&) = delete;

  // Says why the ranks of a saved state cannot be revived here, with all that is known beforehand.
  // Reads only.
  Status CheckFits(const checkpoint::Opened& saved) const;
  const checkpoint::CheckpointEngine& engine() const { return *engine_; }
  // Adds what the rank needs, and changes what it has for life in a pid namespace.
  void Equip(RankStart* start) const;
  // Begins to revive ranks of a saved state, side by side, and notes in `starts`, which must stay
  // where they are, which children of this process they are. `revived` is called once, when all are
  // there or one of them could not be revived; that may be before this returns. An error returned
  // means that it is not called.
  Status BeginToRevive(const checkpoint::Opened& saved, std::span<RankStart> starts,
                       std::function<void(Status)> revived);
  // Does without those that are being revived. Nobody is called any more.
  void GiveUpReviving();
  // The ranks have been started, so their ends of the pipes are theirs alone.
  void RanksStarted();
  // Says its last words.
  void RankEnded(std::uint32_t rank);
  // Does what the launcher says.
  void Take(const wire::SavingWord& word);

 private:
  struct Line;
  NodeSaving(event_base* loop, std::unique_ptr<checkpoint::CheckpointEngine> engine,
             Outlets outlets);
  Status Open(const Options& options);
  Status OpenSpace(const Options& options);
  Result<std::unique_ptr<checkpoint::Errand>> Begin(const checkpoint::Opened& saved,
                                                    RankStart* start);
  void OnRevived(Line* line, Status outcome);
  void NoteRevived(Line* line);
  void OnReports(Line* line);
  void GoOn(Line* line, std::string_view order);
  Status Save(Line* line, const std::string& folder);
  Status CheckProcesses() const;
  void StopAll();
  Status SavedAnother(Status outcome);
  static Result<Descriptor> FolderOf(const checkpoint::Opened& saved, std::uint32_t rank);
  void Watch(Line* line, std::unique_ptr<checkpoint::Errand> errand);
  void WatchSubject(Line* line);
  void OnErrand(Line* line);
  void SaySaved(Line* line, const Status& outcome);

  event_base* const loop_;
  const std::unique_ptr<checkpoint::CheckpointEngine> engine_;
  const Outlets outlets_;
  std::unique_ptr<ProcessSpace> space_;                   // null: the engine does not need one
  Descriptor nothing_;                                    // /dev/null, as the space has it
  std::map<std::uint32_t, std::unique_ptr<Line>> lines_;  // by rank
  std::uint32_t first_process_ = kFirstProcess;
  bool secluded_ = false;
  std::size_t reviving_ = 0;  // ranks that are being revived
  std::function<void(Status)> revived_;
  bool stands_still_ = false;  // ranks may be stopped
  std::size_t saves_ = 0;      // ranks that are being saved
  std::string generation_;     // the folder above theirs
  Descriptor memory_into_;     // the first of theirs, which gets the memory that they share
};

}  // namespace lamina::launcher
