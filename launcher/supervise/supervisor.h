// SPDX-License-Identifier: BSD-3-Clause
// Leads one job from its start to its end.
//
//   start -> running -> ending (SIGTERM, grace, SIGKILL) -> ended (all reaped) -> swept -> drained
//
// Ending is skipped when every rank returns 0. The job is swept when nothing is left that ranks
// have started, and drained when everything they wrote is written.
//
// Threads: the event loop's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/store/listing.h"
#include "launcher/control/question_socket.h"
#include "launcher/pmix/server.h"
#include "launcher/supervise/checkpoints.h"
#include "launcher/supervise/debugging.h"
#include "launcher/supervise/further.h"
#include "launcher/supervise/hang_watch.h"
#include "launcher/supervise/limits.h"
#include "launcher/supervise/profiling.h"
#include "launcher/supervise/progress_line.h"
#include "launcher/supervise/rank_questions.h"
#include "launcher/supervise/rings.h"
#include "launcher/supervise/run.h"
#include "launcher/supervise/run_hosts.h"
#include "launcher/supervise/saving.h"
#include "launcher/supervise/signals.h"
#include "launcher/supervise/streams.h"
#include "launcher/supervise/timer.h"
#include "launcher/supervise/tracing.h"
#include "launcher/supervise/verdict.h"
#include "launcher/why/why.h"
#include "runtime/base/descriptor.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Supervisor {
 public:
  Supervisor(const Plan& plan, const RunContext& context);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // Returns the exit status. An error means that the job could not be started and that nothing was
  // said yet.
  Result<int> Run();
  // Did the user press ctrl-C?
  bool interrupted() const { return interrupts_ > 0; }
  // The job was saved, and ended for that.
  bool saved_to_end() const { return saved_to_end_; }
  // The state that the job was to go on from does not fit what is here.
  bool unfit() const { return unfit_; }
  Loss loss() const;

 private:
  Status Prepare();
  Status Revive(std::vector<RankStart>* starts);
  Status StartRanks(Spawner* spawner);
  // Adds what this process has made for the rank: streams, ring, roster, PMIx variables.
  void Equip(RankStart* start) const;
  void StartServerIfNeeded();
  void OnSignal(int signal);
  void OnJob();
  void HostLost(const RankEvent& event);
  void OnEnd(const RankEvent& event);
  void WriteProfile();
  void SayWhatIsWritten(const Result<std::string>& line);
  std::string ProfileNow(const std::string& file);
  void TakeProfile(std::uint32_t rank);
  // Lets debuggers see the ranks once all their processes are known.
  void PublishOnce();
  void AskClocks();
  void React(const Reaction& reaction);
  // Reacts to what one rank did, and with -v shows its last events.
  void React(std::uint32_t rank, const Reaction& reaction);
  void SayLastEvents(std::uint32_t rank) const;
  void SaySharing(std::uint32_t rank, const std::string& cpus);
  void SayHint();
  void OnTimeout();
  // See why.cc.
  std::vector<RankView> Views() const;
  std::string AnswerWhy(bool queues) const;
  std::vector<std::string> WhyItHangs() const;
  void LookForHang();
  // See usage.cc.
  std::string AnswerUsage() const;
  void EndJob();
  void EndSpawned();
  bool IsMissed(const RankEvent& event) const;
  void SignalAll(int signal);
  void EndIfAllEnded();
  void AllEnded();
  void StopIfDone();
  bool Done() const;
  void Suspend();
  void Answer(std::string_view question, const control::QuestionSocket::Reply& reply,
              const control::QuestionSocket::Keep& keep);
  std::string FurtherHosts() const;
  Status OpenRestored();
  Status OpenStreams();
  Status PrepareSaving();
  Status PrepareCheckpoints();
  // Has the job saved because of a signal or the time, for nobody who waits.
  void AnswerCheckpoint(std::span<const std::string_view> words,
                        const control::QuestionSocket::Reply& reply);
  Status PrepareToMove(std::string_view from, std::string_view to);
  void SaveUnasked(Checkpoints::Then then);
  const RankTrace* TraceOf(std::uint32_t rank) const;
  LastSeen LastOf(std::uint32_t rank) const;
  std::vector<std::pair<std::uint32_t, LastSeen>> Running() const;

  const Plan& plan_;
  const RunContext& context_;
  SpawnerCaps caps_;
  pmix::Params pmix_params_;
  event_base* loop_;
  Verdict verdict_;
  std::unique_ptr<Signals> signals_;
  std::unique_ptr<pmix::Server> server_;
  std::unique_ptr<Streams> streams_;
  std::optional<checkpoint::Opened> restored_;  // the state whose processes are revived
  std::unique_ptr<Saving> saving_;              // null: the program does not save its state
  std::unique_ptr<Checkpoints> checkpoints_;    // null: its processes are not saved
  std::unique_ptr<Timer> save_again_;           // null: not by the time
  Debugging debugging_;
  std::unique_ptr<Tracing> tracing_;      // null: the job is not traced
  std::unique_ptr<Timer> ask_clocks_;     // the same
  std::unique_ptr<Timer> look_for_hang_;  // null: nobody has asked for that
  HangWatch hang_watch_;
  bool hang_said_ = false;
  std::unique_ptr<Profiling> profiling_;  // null: the job is not profiled
  bool is_written_ = true;                // whatever was to be written about the job
  Rings rings_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<control::QuestionSocket> question_socket_;
  std::unique_ptr<Further> further_;
  RunHosts hosts_;
  std::unique_ptr<RankQuestions> rank_questions_;
  event* job_ready_ = nullptr;
  std::unique_ptr<Limits> limits_;
  std::unique_ptr<ProgressLine> progress_;
  std::uint64_t started_ms_ = 0;
  std::vector<bool> running_;  // by rank
  std::size_t running_count_ = 0;
  unsigned interrupts_ = 0;
  bool saved_to_end_ = false;
  std::optional<Loss::Move> move_;  // what the job is saved for
  bool saved_to_move_ = false;
  int told_to_end_ = 0;            // by this signal, before there was a rank; 0: no
  std::vector<int> held_signals_;  // for ranks that are not there yet
  bool unfit_ = false;
  bool held_ = false;       // the ranks wait for a debugger
  bool published_ = false;  // debuggers can see them
  bool ending_ = false;
  bool ends_spawned_ = false;
  bool ended_ = false;
  std::uint64_t open_files_max_ = 0;
};

}  // namespace lamina::launcher
